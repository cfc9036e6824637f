"""What a run of metrics says, written for people and for programs, and held against another run."""
