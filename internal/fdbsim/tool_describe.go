package fdbsim

import (
	"fmt"
	"strconv"
	"strings"
)

const backupMissing = "Backup does not exist"

// existing is the container of -d, where there is one.
func (c *backupTool) existing() (found *container, exit int) {
	url := c.values["destcontainer"]
	if c.tool.Name == "fdbrestore" {
		url = c.values["backup_source"]
	}
	if url == "" {
		c.badUsage("No backup destination was specified.")
		return nil, c.errorOut("Backup error")
	}
	u, err := parseBackupURL(url)
	if err != nil {
		c.badURL(url, err)
		return nil, c.errorOut("Backup Container URL invalid")
	}
	if c.command == "delete" {
		c.printf("Deleting %s...\n", url)
	}
	if c.command == "delete" && !u.file {
		c.print("\r0...")
	}
	if err := c.reachStore(u); err != nil {
		return nil, exitCode(err)
	}
	if found = c.w.stores.containerAt(url); found == nil {
		return nil, c.errorOut(backupMissing)
	}
	return found, exitOK
}

func (c *backupTool) listBackups() int {
	url := c.values["base_url"]
	u, err := splitBackupURL(url)
	if err != nil {
		c.badURL(url, err)
		return c.errorOut("Backup Container URL invalid")
	}
	if err := c.reachStore(u); err != nil {
		return exitCode(err)
	}
	for _, name := range c.w.stores.below(u) {
		c.printf("%s\n", name)
	}
	return exitOK
}

func (c *backupTool) deleteBackup() int {
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	c.w.stores.remove(c.values["destcontainer"])
	c.printf("\r%d objects deleted\nThe entire container has been deleted.\n", found.objects())
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
	if !found.expire(before, c.given("force")) {
		c.errorf("ERROR: Requested expiration would be unsafe.  Backup would not meet minimum restorability.  Use --force to delete data anyway.")
		return c.fatal("Cannot expire requested data from backup without violating minimum restorability")
	}
	c.printf("\rFinal metadata update...\nAll data before version %d has been deleted.\n", before)
	return exitOK
}

func (c *backupTool) expiryVersion(found *container) (int64, error) {
	if text, ok := c.values["expire_before_version"]; ok {
		return strconv.ParseInt(text, 10, 64)
	}
	days, err := strconv.ParseFloat(c.values["delete_before_days"], 64)
	return found.logEnd() - int64(days*versionsPerDay), err
}

const versionsPerDay = 86400 * microsPerSecond

func (c *backupTool) describeBackup() int {
	found, exit := c.existing()
	if found == nil {
		return exit
	}
	d := description{container: found, relative: found.logEnd()}
	if c.given("version_timestamps") {
		if !c.readClusterFile() {
			return exitFailed
		}
		var err error
		if d.db, err = c.reachDatabase(); err != nil {
			return exitCode(err)
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
	*container
	relative int64     // the version that ages are relative to
	db       *database // tells times of versions; nil for relative ages
}

func (c *container) logBegin() int64 {
	if len(c.runs) == 0 {
		return 0
	}
	return c.runs[0].logBegin
}

func (c *container) logEnd() int64 {
	if len(c.runs) == 0 {
		return 0
	}
	return c.runs[len(c.runs)-1].logEnd
}

// hasLog reports whether a stretch of the log is in the store.
func (c *container) hasLog() bool { return len(c.runs) > 0 && c.logEnd() > c.logBegin() }

func (d description) snapshots() (all []snapshotFile, restorable []bool, bytes int64) {
	for _, r := range d.runs {
		for _, s := range r.snapshots {
			all, restorable = append(all, s), append(restorable, s.begin >= r.logBegin && s.end < r.logEnd)
			bytes += s.bytes
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
	if d.expiredEnd > 0 {
		all = append(all, named{"ExpiredEnd", "ExpiredEndVersion:      ", d.expiredEnd},
			named{"UnreliableEnd", "UnreliableEndVersion:   ", d.expiredEnd})
	}
	if d.hasLog() {
		all = append(all, named{"MinLogBegin", "MinLogBeginVersion:     ", d.logBegin()},
			named{"ContiguousLogEnd", "ContiguousLogEndVersion:", d.logEnd()}, named{"MaxLogEnd", "MaxLogEndVersion:       ", d.logEnd()})
	}
	if from, to, ok := d.restorable(); ok {
		all = append(all, named{"MinRestorablePoint", "MinRestorableVersion:   ", from}, named{"MaxRestorablePoint", "MaxRestorableVersion:   ", to})
	}
	return all
}

// blockSize is the size of encrypted blocks.
const blockSize = 1 << 20

func (d description) encryptionBlock() int {
	if d.encrypted {
		return blockSize
	}
	return 0
}

func (d description) json() string {
	_, _, restorable := d.restorable()
	var b strings.Builder
	fmt.Fprintf(&b, `{"SchemaVersion":"1.0.0","URL":"%s","Restorable":%t,"Partitioned":%t,"FileLevelEncryption":%t,"EncryptionBlockSize":%d,"Snapshots":[`,
		d.url, restorable, d.partitioned, d.encrypted, d.encryptionBlock())
	all, usable, bytes := d.snapshots()
	for i, s := range all {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"Start":%s,"End":%s,"Restorable":%t,"TotalBytes":%d,"PercentageExpired":0}`, d.at(s.begin), d.at(s.end), usable[i], s.bytes)
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
		at := d.db.moment(version).UTC()
		return fmt.Sprintf(`{"Version":%d,"Timestamp":"%s","EpochSeconds":%d}`, version, at.Format(backupTime), at.Unix())
	case d.hasLog():
		return fmt.Sprintf(`{"Version":%d,"RelativeDays":%.6g}`, version, float64(version-d.relative)/versionsPerDay)
	}
	return fmt.Sprintf(`{"Version":%d}`, version)
}

func (d description) text() string {
	_, _, restorable := d.restorable()
	var b strings.Builder
	fmt.Fprintf(&b, "URL: %s\nRestorable: %t\nPartitioned logs: %t\nFile-level encryption: %t\nEncryption block size: %d\n",
		d.url, restorable, d.partitioned, d.encrypted, d.encryptionBlock())
	all, usable, bytes := d.snapshots()
	for i, s := range all {
		fmt.Fprintf(&b, "Snapshot:  startVersion=%d%s  endVersion=%d%s  totalBytes=%d  restorable=%t  expiredPct=0.00\n",
			s.begin, d.age(s.begin), s.end, d.age(s.end), s.bytes, usable[i])
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
		return " (" + d.db.moment(version).UTC().Format(backupTime) + ")"
	case d.hasLog():
		return fmt.Sprintf(" (maxLogEnd -%.2f days)", float64(d.relative-version)/versionsPerDay)
	}
	return ""
}
