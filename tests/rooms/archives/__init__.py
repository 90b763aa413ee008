"""The tests of archives; `data` has a bundle that velero debug 1.18.3 wrote of a real Velero."""
