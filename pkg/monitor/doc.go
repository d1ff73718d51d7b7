// Package monitor feeds the dashboard: it polls clusters, makes frames of what it reads, and records them.
package monitor
