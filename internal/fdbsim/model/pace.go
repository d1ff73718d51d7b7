package model

import "time"

// Pace is how long the parts of a cluster take for what they do.
type Pace struct {
	// Join is from the start of a process to its registration.
	Join time.Duration
	// Recruit is how long a requested recovery takes.
	Recruit time.Duration
	// NoticeFailure is from the death of a transaction process to the
	// recovery it causes.
	NoticeFailure time.Duration
	// Drain is from accepting commits to full recovery.
	Drain time.Duration
	// Distribution is how long data distribution initializes when it starts on
	// another process, or after an accepted change of the configuration.
	Distribution time.Duration
	// Creation is how long data distribution initializes in a new database.
	Creation time.Duration
	// Vanish is how long a dead process stays in status as unreachable.
	Vanish time.Duration
	// StorageDeath is from the death of a storage process to the moment data
	// distribution counts its replicas as lost.
	StorageDeath time.Duration
	// RecruitStorage is from the moment a process could hold data to the
	// storage role on it.
	RecruitStorage time.Duration
	// MoveBytesPerSecond is the rate of one stream of data movement.
	MoveBytesPerSecond int64
	// BackupLogLag is from the end of a stretch of the backup's log to the
	// moment it is in the store.
	BackupLogLag time.Duration
	// BackupBytesPerSecond is the rate at which backups and restores copy keys.
	BackupBytesPerSecond int64
}

// RecordedPace is the pace of FoundationDB 7.3.79 on a small machine, except
// for data movement, which is fast enough for a small database to move in
// seconds.
func RecordedPace() Pace {
	return Pace{
		Join:                 600 * time.Millisecond,
		Recruit:              200 * time.Millisecond,
		NoticeFailure:        4 * time.Second,
		Drain:                10 * time.Second,
		Distribution:         35 * time.Second,
		Creation:             26 * time.Second,
		Vanish:               6500 * time.Millisecond,
		StorageDeath:         68 * time.Second,
		RecruitStorage:       2 * time.Second,
		MoveBytesPerSecond:   50 << 20,
		BackupLogLag:         14 * time.Second,
		BackupBytesPerSecond: 300 << 20,
	}
}
