"""STAGE (Tian et al., 2026): timelines and arcs, questions and role-play over whole screenplays."""
