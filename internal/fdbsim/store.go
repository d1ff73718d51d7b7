package fdbsim

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// BlobStore is a store that backups can go to by blobstore:// URLs. Stores that
// a world does not know are unreachable, and so are buckets that a store does
// not have: the tools wait for them without a word.
type BlobStore struct {
	// Host is the store as URLs name it, host:port.
	Host string
	// Secrets are the secret keys of accounts. Nil lets everybody in. Whoever
	// has no right key is not answered.
	Secrets map[string]string
	// Buckets are the buckets there are.
	Buckets []string
}

// AddBlobStore makes a blob store reachable.
func (w *World) AddBlobStore(s BlobStore) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stores.blob = append(w.stores.blob, s)
}

// stores are the places where backups are. Files of file:// URLs are on a
// volume that every tool and agent has mounted.
type stores struct {
	blob       []BlobStore
	containers map[string]*container // by canonical URL
}

// container is one backup in a store.
type container struct {
	url         string
	partitioned bool
	encrypted   bool
	runs        []*backupRun
	expiredEnd  int64
}

// backupRun is what one backup, from its start to its end, has written to a
// container: snapshots, and every change of user keys since it began.
type backupRun struct {
	uid       string // of the backup
	snapshots []snapshotFile
	logBegin  int64
	logEnd    int64 // exclusive; equal to logBegin while no log is complete
	log       []loggedCommit
}

// snapshotFile is one complete snapshot.
type snapshotFile struct {
	begin, end int64
	bytes      int64
	pairs      []pair
}

// loggedCommit is what one commit did to user keys.
type loggedCommit struct {
	version   int64
	mutations []mutation
}

// canonicalURL is the URL under which a container is kept: credentials and
// trailing slashes make no difference.
func canonicalURL(raw string) string {
	u, err := splitBackupURL(raw)
	if err != nil {
		return raw
	}
	if u.file {
		return "file://" + path.Clean(u.path)
	}
	return "blobstore://" + u.host + "/" + u.path + "?bucket=" + u.params["bucket"]
}

// containerAt is the container of a URL, nil when nothing was written there.
func (s *stores) containerAt(url string) *container { return s.containers[canonicalURL(url)] }

// open is the container of a URL, made when it is not there.
func (s *stores) open(url string) *container {
	key := canonicalURL(url)
	if s.containers == nil {
		s.containers = map[string]*container{}
	}
	if s.containers[key] == nil {
		s.containers[key] = &container{url: strings.TrimSuffix(url, "/")}
	}
	return s.containers[key]
}

func (s *stores) remove(url string) { delete(s.containers, canonicalURL(url)) }

// below are the URLs directly below a base URL of files.
func (s *stores) below(base backupURL) []string {
	if !base.file {
		return s.inBucket(base)
	}
	dir := path.Clean(base.path)
	if s.containers["file://"+dir] != nil {
		return prefixed("file://"+dir+"/", "kvranges", "logs", "properties", "snapshots")
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(s.containers)) {
		if name, inside := strings.CutPrefix(key, "file://"+strings.TrimSuffix(dir, "/")+"/"); inside && !strings.Contains(name, "/") {
			found = append(found, key)
		}
	}
	return found
}

func (s *stores) inBucket(base backupURL) []string {
	var found []string
	for _, key := range slices.Sorted(maps.Keys(s.containers)) {
		u, err := splitBackupURL(key)
		if err == nil && !u.file && u.host == base.host && u.params["bucket"] == base.params["bucket"] {
			found = append(found, key)
		}
	}
	return found
}

func prefixed(prefix string, names ...string) []string {
	for i, name := range names {
		names[i] = prefix + name
	}
	return names
}

// restorable are the versions that a run can be restored to, both inclusive.
func (r *backupRun) restorable() (from, to int64, ok bool) {
	for _, s := range r.snapshots {
		if s.begin < r.logBegin || s.end >= r.logEnd {
			continue
		}
		if !ok || s.end < from {
			from = s.end
		}
		to, ok = r.logEnd-1, true
	}
	return from, to, ok
}

// restorable are the first and the last version that a container can be
// restored to. Between runs there are versions that are not possible.
func (c *container) restorable() (from, to int64, ok bool) {
	for _, r := range c.runs {
		begin, end, possible := r.restorable()
		if !possible {
			continue
		}
		if !ok || begin < from {
			from = begin
		}
		if !ok || end > to {
			to = end
		}
		ok = true
	}
	return from, to, ok
}

// runFor is the run that holds a version, nil when none can be restored to it.
func (c *container) runFor(version int64) *backupRun {
	for _, r := range slices.Backward(c.runs) {
		if from, to, ok := r.restorable(); ok && from <= version && version <= to {
			return r
		}
	}
	return nil
}

// contents are the user keys as of a version: the last snapshot before it, and
// the changes since.
func (r *backupRun) contents(version int64) []pair {
	var base snapshotFile
	for _, s := range r.snapshots {
		if s.end <= version && s.end >= base.end {
			base = s
		}
	}
	var keys keyspace
	for _, p := range base.pairs {
		keys.put(p.key, revision{version: base.end, value: p.value})
	}
	for _, c := range r.log {
		if c.version > base.end && c.version <= version {
			keys.apply(c.version, c.mutations)
		}
	}
	return keys.latestRange("", userEnd)
}

// userEnd is the key after all keys of users.
const userEnd = "\xff"

// objects is how many files the container has.
func (c *container) objects() int {
	n := 4 // properties
	for _, r := range c.runs {
		n += 5 * len(r.snapshots)
		n += int((r.logEnd - r.logBegin) / logChunk)
	}
	return n
}

// expire deletes what holds nothing at or after a version. It refuses, unless
// forced, when no restorable version at or after it would be left.
func (c *container) expire(before int64, force bool) bool {
	kept := make([]*backupRun, len(c.runs))
	safe := false
	for i, r := range c.runs {
		kept[i] = r.since(before)
		_, _, ok := kept[i].restorable()
		safe = safe || ok
	}
	if !safe && !force {
		return false
	}
	c.runs = slices.DeleteFunc(kept, func(r *backupRun) bool { return len(r.snapshots) == 0 && r.logEnd <= before })
	c.expiredEnd = max(c.expiredEnd, before)
	return true
}

func (r *backupRun) since(version int64) *backupRun {
	rest := *r
	rest.snapshots = slices.DeleteFunc(slices.Clone(r.snapshots), func(s snapshotFile) bool { return s.begin < version })
	rest.logBegin = min(max(r.logBegin, version), max(r.logEnd, r.logBegin))
	rest.log = slices.DeleteFunc(slices.Clone(r.log), func(l loggedCommit) bool { return l.version < version })
	return &rest
}
