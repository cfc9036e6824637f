"""A catalogue on many machines: the steps of one film as a Ray Data pipeline over films and slots.

``shotad.batch.ray.run`` describes films on a cluster, or on this machine with several processes; Ray
itself is loaded only then (extra ``ray``).
"""

from __future__ import annotations

from shotad.batch.ray.run import describe_on_ray
from shotad.batch.ray.settings import Crew, RaySettings, ServeSettings, load_ray_settings

__all__ = ["Crew", "RaySettings", "ServeSettings", "describe_on_ray", "load_ray_settings"]
