"""The commented configuration file that `foretop config init` writes; every setting is in it."""

from __future__ import annotations

TEMPLATE = """\
# Configuration of foretop. Remove the # before a setting to use it.
# Flags go over the environment, which goes over this file; neither allows a write that this file refuses.
# A running dashboard takes changes up by itself. With a mistake in this file every context is read-only.
# foretop config show   prints what is in effect and where it comes from.

# The page to start on: triage, schedules, nonadmin, queue, calendar, primer, backups, restores, storage.
#page: triage

# What to connect to when no --context is given: names of contexts or groups.
#defaultContexts: [prod]

# Names for several contexts: foretop --context prod opens both.
#groups:
#  prod: [prod-eu, prod-us]

# By context: readOnly refuses every write; production asks for the name of the context before a write. Both protect
# the cluster, by whatever name it is reached; clusterUid tells it for certain, and foretop doctor prints it.
# veleroVersion is the release to assume where it cannot be detected.
#contexts:
#  prod-eu: {production: true, clusterUid: 0b6c1f1e-7f0e-4c5d-9a51-6f4f2f6d2a10}
#  prod-us: {readOnly: true, veleroVersion: 1.16.2}

# Refuse every write in every context.
#readOnly: false

# Only these namespaces, as -n does.
#namespaces: [team-pay]

# Velero: its namespace and release, instead of searching for them.
#veleroNamespace: velero
#veleroVersion: 1.18.3

# UTC, local, expression (that of each cron expression), or a name such as Europe/Berlin.
#timeZone: UTC

# When shifts end, in this time zone: a finding can be acknowledged until then.
#shiftEnds: ['06:00', '14:00', '22:00']

# A stretch of the day that backups should keep free, in this time zone: triage, the calendar and foretop forecast
# tell what would be at work in it.
#window: 06:00-07:30

# The warm-up time that the primer starts with.
#warmUpMinutes: 10

# The mouse; it disables the terminal's own selection.
#mouse: false

# terminal (its own sixteen colours), dark, light, high-contrast, colour-blind, or a skin from below.
#theme: terminal

# Your own themes: colours for foreground, background, border, dim, bright, faint, raised, good, running, waiting,
# paused, warn, bad. What a skin leaves out is taken from dark; bright (focus), faint (tracks of bars) and raised (the
# row under the cursor) are derived from its foreground and background.
#skins:
#  midnight: {background: '#10141c', foreground: '#d0d0d0', bad: '#ff5f5f', warn: '#ffd75f'}

# When triage reports something; these are the defaults.
#thresholds:
#  overdue: 2m
#  forgottenPause: 1d
#  nothingMoved: 15m
#  movementWaiting: 15m
#  readyToStart: 2m
#  queueIdle: 2m
#  deleting: 10m
#  expired: 2h
#  notSyncedPeriods: 5
#  recentFailure: 1d
#  recentRestart: 1h
#  storageRequest: 10m
#  positionOff: 10s
#  expiringSoon: 1d
#  gap: 30m
#  mostCollisions: 5
#  fewestPaused: 3
#  ignoredNamespaces: []   # patterns of namespaces that need no backup, as kube-* and openshift-* do not
#  comesAfter: 5s
#  goesAfter: 20s

# By page: the columns in their order, and the column to sort by.
#pages:
#  backups: {columns: [name, phase, started, took], sort: started, reverse: true}

# By action: another key. The palette (:) lists the names of the actions.
#keys:
#  copy-name: ctrl+y

# What the terminal is told of a new finding of at least this severity (error, warning or note):
# the bell, a desktop notification (osc9 or osc777), and the number of findings in the window title.
#notify:
#  severity: error
#  bell: false
#  desktop: osc777
#  title: false
"""
