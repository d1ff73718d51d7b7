package status

import (
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// layersStatus is what backup agents report of the last backup of each tag; nothing before the first one, and
// nothing once their reports have expired. The fields are those of FoundationDB's source; agents of the model report at once.
func layersStatus(db *model.Database) Object {
	agents, reported := db.Reporting()
	if len(db.Backups.Tags) == 0 || !reported {
		return Object{"_valid": true}
	}
	tags := Object{}
	for _, name := range db.TagNames() {
		tags[name] = tagStatus(db, db.Backups.Tags[name])
	}
	return Object{"_valid": true, "backup": Object{
		"instances_running": agents,
		"last_updated":      db.Simulation.Now.Unix(),
		"paused":            db.Backups.Paused,
		"tags":              tags,
	}}
}

func tagStatus(db *model.Database, b *model.Backup) Object {
	tag := Object{
		"current_container":            b.URL,
		"current_status":               model.BackupStates[b.State].Description,
		"running_backup":               b.State == model.BackupRunning || b.State == model.BackupDifferential,
		"running_backup_is_restorable": b.State == model.BackupDifferential,
		"range_bytes_written":          b.RangeBytes,
	}
	if b.Run != nil {
		tag["mutation_log_bytes_written"] = b.Run.LogBytes()
	}
	if version, is := b.LatestRestorable(); is {
		tag["last_restorable_version"] = version
		tag["last_restorable_seconds_behind"] = float64(db.VersionNow()-version) / keyspace.VersionsPerSecond
	}
	return tag
}
