package tools

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/store"
)

const backupMissing = "Backup does not exist"

// existing is the container of -d, where there is one.
func (c *backupTool) existing() (found *store.Container, exit int) {
	url := c.values["destcontainer"]
	if c.tool.Name == "fdbrestore" {
		url = c.values["backup_source"]
	}
	if url == "" {
		c.badUsage("No backup destination was specified.")
		return nil, c.errorOut("Backup error")
	}
	u, err := store.ParseURL(url)
	if err != nil {
		c.badURL(url, err)
		return nil, c.errorOut("Backup Container URL invalid")
	}
	if c.command == "delete" {
		c.printf("Deleting %s...\n", url)
	}
	if c.command == "delete" && !u.File {
		c.print("\r0...")
	}
	if err := c.reachStore(u); err != nil {
		return nil, c.exitCode(err)
	}
	if found = c.Simulation.Stores.At(url); found == nil {
		return nil, c.errorOut(backupMissing)
	}
	return found, exitOK
}

func (c *backupTool) listBackups() int {
	url := c.values["base_url"]
	u, err := store.SplitURL(url)
	if err != nil {
		c.errorf("ERROR: Backup Container URL invalid: %s", err)
		return c.fatal("Backup Container URL invalid")
	}
	if err := c.reachStore(u); err != nil {
		return c.exitCode(err)
	}
	for _, name := range c.Simulation.Stores.Below(u) {
		c.printf("%s\n", name)
	}
	return exitOK
}

func (c *backupTool) deleteBackup() int {
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	c.Simulation.Stores.Remove(c.values["destcontainer"])
	c.printf("\r%d objects deleted\nThe entire container has been deleted.\n", found.Objects())
	return exitOK
}

func (c *backupTool) expireBackup() int {
	if !c.given("expire_before_version") && !c.given("delete_before_days") {
		c.badUsage("No version or date/time is specified.")
		return c.fatal("Backup error")
	}
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	before, err := c.expiryVersion(found)
	if err != nil {
		return c.badUsage("Could not parse database version `%s'", c.values["expire_before_version"])
	}
	if !c.given("force") && !found.CanExpire(before) {
		c.errorf("ERROR: Requested expiration would be unsafe.  Backup would not meet minimum restorability.  Use --force to delete data anyway.")
		return c.fatal("Cannot expire requested data from backup without violating minimum restorability")
	}
	found.Expire(before)
	c.printf("\rFinal metadata update...\nAll data before version %d has been deleted.\n", before)
	return exitOK
}

func (c *backupTool) expiryVersion(found *store.Container) (int64, error) {
	if text, ok := c.values["expire_before_version"]; ok {
		return strconv.ParseInt(text, 10, 64)
	}
	days, err := strconv.ParseFloat(c.values["delete_before_days"], 64)
	return found.LogEnd() - int64(days*versionsPerDay), err
}

const versionsPerDay = 86400 * keyspace.VersionsPerSecond

func (c *backupTool) describeBackup() int {
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	d := description{Container: found, relative: found.LogEnd()}
	if c.given("version_timestamps") {
		if !c.readClusterFile() {
			return exitFailed
		}
		var err error
		if d.db, err = c.reachDatabase(); err != nil {
			return c.exitCode(err)
		}
	}
	if c.given("json") {
		c.print(d.json() + "\n")
		return exitOK
	}
	c.print(d.text() + "\n")
	return exitOK
}

// description is a container as `describe` shows it.
type description struct {
	*store.Container
	relative int64           // the version that ages are relative to
	db       *model.Database // returns the times of versions; nil for relative ages
}

func (d description) snapshots() (all []store.Snapshot, restorable []bool, bytes int64) {
	for _, r := range d.Runs {
		for _, s := range r.Snapshots {
			all, restorable = append(all, s), append(restorable, s.Begin >= r.LogBegin && s.End < r.LogEnd)
			bytes += s.Bytes
		}
	}
	return all, restorable, bytes
}

// named is a version of a description with its names in JSON and in text.
type named struct {
	key, line string
	version   int64
}

func (d description) versions() []named {
	var all []named
	if d.ExpiredEnd > 0 {
		all = append(all, named{"ExpiredEnd", "ExpiredEndVersion:      ", d.ExpiredEnd},
			named{"UnreliableEnd", "UnreliableEndVersion:   ", d.ExpiredEnd})
	}
	if d.HasLog() {
		all = append(all, named{"MinLogBegin", "MinLogBeginVersion:     ", d.LogBegin()},
			named{"ContiguousLogEnd", "ContiguousLogEndVersion:", d.LogEnd()}, named{"MaxLogEnd", "MaxLogEndVersion:       ", d.LogEnd()})
	}
	if from, to, ok := d.Restorable(); ok {
		all = append(all, named{"MinRestorablePoint", "MinRestorableVersion:   ", from}, named{"MaxRestorablePoint", "MaxRestorableVersion:   ", to})
	}
	return all
}

func (d description) encryptionBlock() int {
	if d.Encrypted {
		return store.BlockSize
	}
	return 0
}

func (d description) json() string {
	_, _, restorable := d.Restorable()
	var b strings.Builder
	fmt.Fprintf(&b, `{"SchemaVersion":"1.0.0","URL":"%s","Restorable":%t,"Partitioned":%t,"FileLevelEncryption":%t,"EncryptionBlockSize":%d,"Snapshots":[`,
		d.URL, restorable, d.Partitioned, d.Encrypted, d.encryptionBlock())
	all, usable, bytes := d.snapshots()
	for i, s := range all {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"Start":%s,"End":%s,"Restorable":%t,"TotalBytes":%d,"PercentageExpired":0}`, d.at(s.Begin), d.at(s.End), usable[i], s.Bytes)
	}
	fmt.Fprintf(&b, `],"TotalSnapshotBytes":%d`, bytes)
	for _, v := range d.versions() {
		fmt.Fprintf(&b, `,"%s":%s`, v.key, d.at(v.version))
	}
	return b.String() + "}"
}

func (d description) at(version int64) string {
	switch {
	case d.db != nil:
		at := moment(d.db, version).UTC()
		return fmt.Sprintf(`{"Version":%d,"Timestamp":"%s","EpochSeconds":%d}`, version, at.Format(backupTime), at.Unix())
	case d.HasLog():
		return fmt.Sprintf(`{"Version":%d,"RelativeDays":%.6g}`, version, float64(version-d.relative)/versionsPerDay)
	}
	return fmt.Sprintf(`{"Version":%d}`, version)
}

func (d description) text() string {
	_, _, restorable := d.Restorable()
	var b strings.Builder
	fmt.Fprintf(&b, "URL: %s\nRestorable: %t\nPartitioned logs: %t\nFile-level encryption: %t\nEncryption block size: %d\n",
		d.URL, restorable, d.Partitioned, d.Encrypted, d.encryptionBlock())
	all, usable, bytes := d.snapshots()
	for i, s := range all {
		fmt.Fprintf(&b, "Snapshot:  startVersion=%d%s  endVersion=%d%s  totalBytes=%d  restorable=%t  expiredPct=0.00\n",
			s.Begin, d.age(s.Begin), s.End, d.age(s.End), s.Bytes, usable[i])
	}
	fmt.Fprintf(&b, "SnapshotBytes: %d\n", bytes)
	for _, v := range d.versions() {
		fmt.Fprintf(&b, "%s %d%s\n", v.line, v.version, d.age(v.version))
	}
	return b.String()
}

func (d description) age(version int64) string {
	switch {
	case d.db != nil:
		return " (" + moment(d.db, version).UTC().Format(backupTime) + ")"
	case d.HasLog():
		return fmt.Sprintf(" (maxLogEnd -%.2f days)", float64(d.relative-version)/versionsPerDay)
	}
	return ""
}
