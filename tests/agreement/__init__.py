"""The places that state a fact, asked about every object at random moments: no two may contradict each other."""
