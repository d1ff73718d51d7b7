// Package servertime is a clock that shows the time of the API server, whatever the clock of this
// machine shows. Timestamps that several runs compare, of marks, locks and Leases, come from one
// clock then.
package servertime
