"""A catalogue on many machines: the steps of one film as a Ray Data pipeline over films and slots.

``shotad.batch.ray.run`` describes films on a cluster, or on this machine with several processes; Ray
itself is loaded only then (extra ``ray``).
"""
