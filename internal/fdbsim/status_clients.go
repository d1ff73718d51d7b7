package fdbsim

import (
	"cmp"
	"slices"
	"time"
)

// clientList are the clients that the cluster has seen.
type clientList struct{ list []seenClient }

type seenClient struct {
	host    string
	port    int
	version string
	at      time.Time
}

// clientMemory is how long the cluster remembers a client.
const clientMemory = 5 * time.Minute

// seen notes that a tool asks for the database.
func (l *clientList) seen(c *cli) {
	if c.port == 0 {
		c.port = 32768 + c.w.random.IntN(28000)
	}
	i := slices.IndexFunc(l.list, func(s seenClient) bool { return s.port == c.port })
	if i < 0 {
		l.list = append(l.list, seenClient{host: cmp.Or(c.tool.Host, "127.0.0.1"), port: c.port, version: c.tool.Version, at: c.w.now})
		return
	}
	l.list[i].at = c.w.now
}
