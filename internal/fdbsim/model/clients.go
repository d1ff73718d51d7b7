package model

import (
	"cmp"
	"slices"
	"time"
)

// clientList are the clients that the cluster has seen.
type clientList struct{ list []Client }

// Client is a process that read from the database, and when it last did.
type Client struct {
	Host    string
	Port    int
	Version string
	At      time.Time
}

// clientMemory is how long the cluster remembers a client.
const clientMemory = 5 * time.Minute

// NewClientPort is the port of a client that the cluster has not seen yet.
func (w *Simulation) NewClientPort() int { return 32768 + w.random.IntN(28000) }

// Seen notes that a client reads from the database.
func (l *clientList) Seen(c Client) {
	i := slices.IndexFunc(l.list, func(s Client) bool { return s.Port == c.Port })
	if i < 0 {
		l.list = append(l.list, c)
		return
	}
	l.list[i].At = c.At
}

// Recent are the clients seen lately, by port; the others are forgotten.
func (l *clientList) Recent(now time.Time) []Client {
	l.list = slices.DeleteFunc(l.list, func(s Client) bool { return now.Sub(s.At) > clientMemory })
	return slices.SortedFunc(slices.Values(l.list), func(a, b Client) int { return cmp.Compare(a.Port, b.Port) })
}
