package fdb

import "time"

// DeathNoticedAfter is the maximum time that a storage process can be dead before the
// database's own numbers show it. Recorded on FoundationDB 7.3.79: 66 to 70 s, during
// which replication and fault tolerance are reported as full.
const DeathNoticedAfter = 90 * time.Second
