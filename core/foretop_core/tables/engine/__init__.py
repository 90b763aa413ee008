"""Tables without a screen: columns, order, filter, groups, and rows kept up to date change by change."""
