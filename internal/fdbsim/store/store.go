package store

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/keyspace"
)

// BlobStore is a store that backups can go to by blobstore:// URLs. Stores that
// Simulation does not have are unreachable, and so are buckets that a store does not
// have: the tools wait for them without a word.
type BlobStore struct {
	// Host is the store as URLs name it, host:port.
	Host string
	// Secrets are the secret keys of accounts. Nil accepts any key. Requests
	// without a valid key get no response.
	Secrets map[string]string
	// Buckets are the buckets there are.
	Buckets []string
}

// Stores are the places where backups are. Files of file:// URLs are on a
// volume that every tool and agent has mounted.
type Stores struct {
	Blob       []BlobStore
	Containers map[string]*Container // by canonical URL
}

// Container is one backup in a store.
type Container struct {
	URL         string
	Partitioned bool
	Encrypted   bool
	Runs        []*Run
	ExpiredEnd  int64
}

// Run is what one backup, from its start to its end, has written to a
// container: snapshots, and every change of user keys since it began.
type Run struct {
	UID       string // of the backup
	Snapshots []Snapshot
	LogBegin  int64
	LogEnd    int64 // exclusive; equal to LogBegin while no log is complete
	Log       []Commit
}

// Snapshot is one complete snapshot.
type Snapshot struct {
	Begin, End int64
	Bytes      int64
	Pairs      []keyspace.Pair
}

// Commit is what one commit did to user keys.
type Commit struct {
	Version   int64
	Mutations []keyspace.Mutation
}

// Canonical is the URL under which a container is kept: credentials and
// trailing slashes make no difference.
func Canonical(raw string) string {
	u, err := SplitURL(raw)
	if err != nil {
		return raw
	}
	if u.File {
		return "file://" + path.Clean(u.path)
	}
	return "blobstore://" + u.host + "/" + u.path + "?bucket=" + u.params["bucket"]
}

// At is the container of a URL, nil when nothing was written there.
func (s *Stores) At(url string) *Container { return s.Containers[Canonical(url)] }

// Open is the container of a URL, made when it is not there.
func (s *Stores) Open(url string) *Container {
	key := Canonical(url)
	if s.Containers == nil {
		s.Containers = map[string]*Container{}
	}
	if s.Containers[key] == nil {
		s.Containers[key] = &Container{URL: strings.TrimSuffix(url, "/")}
	}
	return s.Containers[key]
}

// Remove deletes the container of a URL.
func (s *Stores) Remove(url string) { delete(s.Containers, Canonical(url)) }

// Below are the URLs directly below a base URL of files.
func (s *Stores) Below(base URL) []string {
	if !base.File {
		return s.inBucket(base)
	}
	dir := path.Clean(base.path)
	if s.Containers["file://"+dir] != nil {
		return prefixed("file://"+dir+"/", "kvranges", "logs", "properties", "snapshots")
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(s.Containers)) {
		if name, inside := strings.CutPrefix(key, "file://"+strings.TrimSuffix(dir, "/")+"/"); inside && !strings.Contains(name, "/") {
			found = append(found, key)
		}
	}
	return found
}

func (s *Stores) inBucket(base URL) []string {
	var found []string
	for _, key := range slices.Sorted(maps.Keys(s.Containers)) {
		u, err := SplitURL(key)
		if err == nil && !u.File && u.host == base.host && u.params["bucket"] == base.params["bucket"] {
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
func (r *Run) restorable() (from, to int64, ok bool) {
	for _, s := range r.Snapshots {
		if s.Begin < r.LogBegin || s.End >= r.LogEnd {
			continue
		}
		if !ok || s.End < from {
			from = s.End
		}
		to, ok = r.LogEnd-1, true
	}
	return from, to, ok
}

// Restorable are the first and the last version that a container can be
// restored to. Between runs there are versions that are not possible.
func (c *Container) Restorable() (from, to int64, ok bool) {
	for _, r := range c.Runs {
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

// RunFor is the run that holds a version, nil when none can be restored to it.
func (c *Container) RunFor(version int64) *Run {
	for _, r := range slices.Backward(c.Runs) {
		if from, to, ok := r.restorable(); ok && from <= version && version <= to {
			return r
		}
	}
	return nil
}

// Contents are the user keys as of a version: the last snapshot before it, and
// the changes since.
func (r *Run) Contents(version int64) []keyspace.Pair {
	var base Snapshot
	for _, s := range r.Snapshots {
		if s.End <= version && s.End >= base.End {
			base = s
		}
	}
	var keys keyspace.Space
	for _, p := range base.Pairs {
		keys.Put(p.Key, keyspace.Revision{Version: base.End, Value: p.Value})
	}
	for _, c := range r.Log {
		if c.Version > base.End && c.Version <= version {
			keys.Apply(c.Version, c.Mutations)
		}
	}
	return keys.LatestRange("", UserEnd)
}

// UserEnd is the key after all keys of users.
const UserEnd = "\xff"

// LogChunk is the length of the log's stretches, in versions.
const LogChunk = 20 * keyspace.VersionsPerSecond

// Objects is how many files the container has.
func (c *Container) Objects() int {
	n := 4 // properties
	for _, r := range c.Runs {
		n += 5 * len(r.Snapshots)
		n += int((r.LogEnd - r.LogBegin) / LogChunk)
	}
	return n
}

// CanExpire reports whether a restorable version is left without the data before a version.
func (c *Container) CanExpire(before int64) bool {
	return slices.ContainsFunc(c.Runs, func(r *Run) bool {
		_, _, ok := r.since(before).restorable()
		return ok
	})
}

// Expire deletes what holds nothing at or after a version, whatever is left.
func (c *Container) Expire(before int64) {
	kept := make([]*Run, len(c.Runs))
	for i, r := range c.Runs {
		kept[i] = r.since(before)
	}
	c.Runs = slices.DeleteFunc(kept, func(r *Run) bool { return len(r.Snapshots) == 0 && r.LogEnd <= before })
	c.ExpiredEnd = max(c.ExpiredEnd, before)
}

func (r *Run) since(version int64) *Run {
	rest := *r
	rest.Snapshots = slices.DeleteFunc(slices.Clone(r.Snapshots), func(s Snapshot) bool { return s.Begin < version })
	rest.LogBegin = min(max(r.LogBegin, version), max(r.LogEnd, r.LogBegin))
	rest.Log = slices.DeleteFunc(slices.Clone(r.Log), func(l Commit) bool { return l.Version < version })
	return &rest
}

// BlockSize is the size of encrypted blocks.
const BlockSize = 1 << 20

// LogBegin is the first version of the log.
func (c *Container) LogBegin() int64 {
	if len(c.Runs) == 0 {
		return 0
	}
	return c.Runs[0].LogBegin
}

// LogEnd is the version after the end of the log.
func (c *Container) LogEnd() int64 {
	if len(c.Runs) == 0 {
		return 0
	}
	return c.Runs[len(c.Runs)-1].LogEnd
}

// HasLog reports whether a stretch of the log is in the store.
func (c *Container) HasLog() bool { return len(c.Runs) > 0 && c.LogEnd() > c.LogBegin() }

// LogBytes is the size of the log that is in the store.
func (r *Run) LogBytes() int64 {
	n := int64(0)
	for _, l := range r.Log {
		if l.Version >= r.LogEnd {
			break
		}
		for _, m := range l.Mutations {
			n += int64(len(m.Key) + len(m.Value))
		}
	}
	return n
}

// RunOf is what a backup has written to a container last, nil for nothing.
func (c *Container) RunOf(uid string) *Run {
	for _, r := range slices.Backward(c.Runs) {
		if r.UID == uid {
			return r
		}
	}
	return nil
}
