// The cron libraries of Velero and Kubernetes. A module of its own, so that another of their releases builds no API
// server anew.
module foretop.test/real/cronoracle

go 1.26.0

require (
	github.com/netresearch/go-cron v0.15.0
	github.com/robfig/cron v1.1.0
	github.com/robfig/cron/v3 v3.0.1
)
