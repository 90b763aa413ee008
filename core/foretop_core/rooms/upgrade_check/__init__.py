"""The effect of a Velero upgrade on the schedules: a command, a screen, a finding and a line of the doctor."""
