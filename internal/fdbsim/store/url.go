package store

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// URL is where a backup is, taken apart.
type URL struct {
	File   bool
	path   string // of a file; the name in the bucket of a blob store
	key    string
	secret string
	host   string
	params map[string]string
}

// urlError is what is wrong with a URL, in the words of the tools: "" where they
// have none.
type urlError string

func (e urlError) Error() string { return string(e) }

// What URLs begin with, and what paths are relative to.
const (
	FilePrefix = "file://"
	blobPrefix = "blobstore://"
	// workingDirectory is where the tools were recorded.
	workingDirectory = "/var/fdb"
)

// ParseURL takes a URL apart and checks it as the tools do.
func ParseURL(text string) (URL, error) {
	u, err := SplitURL(text)
	if err == nil && !u.File {
		err = u.check()
	}
	return u, err
}

// SplitURL takes a URL apart without a check.
func SplitURL(text string) (URL, error) {
	if p, ok := strings.CutPrefix(text, FilePrefix); ok {
		if !path.IsAbs(p) {
			return URL{}, urlError("Backup path '" + p + "' must be the absolute path '" + path.Join(workingDirectory, p) + "'")
		}
		return URL{File: true, path: p}, nil
	}
	rest, ok := strings.CutPrefix(text, blobPrefix)
	if !ok {
		return URL{}, urlError("invalid URL prefix")
	}
	u := splitBlobURL(rest)
	if u.host == "" {
		return URL{}, urlError("host cannot be empty")
	}
	return u, nil
}

func splitBlobURL(rest string) URL {
	u := URL{params: map[string]string{}}
	rest, query, _ := strings.Cut(rest, "?")
	account, name, _ := strings.Cut(rest, "/")
	user, host, found := strings.Cut(account, "@")
	if !found {
		user, host = "", account
	}
	u.host, u.path = host, name
	u.key, u.secret, _ = strings.Cut(user, ":")
	for p := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(p, "="); name != "" {
			u.params[name] = value
		}
	}
	return u
}

func (u URL) check() error {
	if u.params["region"] == "" && !strings.HasSuffix(strings.Split(u.host, ":")[0], ".amazonaws.com") {
		return urlError("Failed to get region from host or parameter in url, region is required for aws v4 signature")
	}
	for name := range u.params {
		if !slices.Contains(blobParameters, name) {
			return urlError("Unknown URL parameter: '" + name + "'")
		}
	}
	if u.path == "" {
		return urlError("")
	}
	return nil
}

// blobParameters are the parameters of blob store URLs that the tools know,
// with their short forms.
var blobParameters = []string{
	"bucket", "region", "header", "secure_connection", "sc", "connect_tries", "ct", "connect_timeout", "cto",
	"max_connection_life", "mcl", "request_timeout_min", "rtom", "request_tries", "rt", "requests_per_second", "rps",
	"list_requests_per_second", "lrps", "write_requests_per_second", "wrps", "read_requests_per_second", "rrps",
	"delete_requests_per_second", "drps", "multipart_max_part_size", "maxps", "multipart_min_part_size", "minps",
	"concurrent_requests", "cr", "concurrent_uploads", "cu", "concurrent_lists", "cl", "concurrent_reads_per_file", "crpf",
	"concurrent_writes_per_file", "cwpf", "read_block_size", "rbs", "read_ahead_blocks", "rab", "read_cache_blocks_per_file", "rcb",
	"max_send_bytes_per_second", "sbps", "max_recv_bytes_per_second", "rbps", "sdk_auth", "sa", "global_connection_pool", "gcp",
}

var (
	// ErrUnresponsive means that the store never answers.
	ErrUnresponsive = errors.New("the store does not answer")
	// ErrNotADirectory means that the path cannot be made.
	ErrNotADirectory = errors.New("the path is a file")
)

// Files are the files that a tool or an agent can read.
type Files interface {
	ReadFile(name string) ([]byte, error)
}

// Reach reports whether a tool reaches the store of a URL.
func (s *Stores) Reach(u URL, files Files, env map[string]string) error {
	if u.File {
		if _, err := files.ReadFile(path.Clean(u.path)); err == nil {
			return ErrNotADirectory
		}
		return nil
	}
	for _, b := range s.Blob {
		if b.Host == u.host && b.admits(u, files, env) {
			return nil
		}
	}
	return ErrUnresponsive
}

func (b BlobStore) admits(u URL, files Files, env map[string]string) bool {
	for _, bucket := range b.Buckets {
		if bucket != u.params["bucket"] {
			continue
		}
		desired, known := b.Secrets[u.key]
		return b.Secrets == nil || known && desired == secretOf(u, files, env)
	}
	return false
}

// Unwritable reports whether no agent can write to a destination.
func Unwritable(u URL) bool { return u.File && strings.HasPrefix(path.Clean(u.path), "/proc/") }
