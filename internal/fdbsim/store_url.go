package fdbsim

import (
	"errors"
	"path"
	"strings"
)

// backupURL is where a backup is, taken apart.
type backupURL struct {
	file   bool
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

const (
	filePrefix = "file://"
	blobPrefix = "blobstore://"
	// workingDirectory is where the tools were recorded.
	workingDirectory = "/var/fdb"
)

// parseBackupURL takes a URL apart and checks it as the tools do.
func parseBackupURL(text string) (backupURL, error) {
	u, err := splitBackupURL(text)
	if err == nil && !u.file {
		err = u.check()
	}
	return u, err
}

func splitBackupURL(text string) (backupURL, error) {
	if p, ok := strings.CutPrefix(text, filePrefix); ok {
		if !path.IsAbs(p) {
			return backupURL{}, urlError("Backup path '" + p + "' must be the absolute path '" + path.Join(workingDirectory, p) + "'")
		}
		return backupURL{file: true, path: p}, nil
	}
	rest, ok := strings.CutPrefix(text, blobPrefix)
	if !ok {
		return backupURL{}, urlError("invalid URL prefix")
	}
	return splitBlobURL(rest), nil
}

func splitBlobURL(rest string) backupURL {
	u := backupURL{params: map[string]string{}}
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

func (u backupURL) check() error {
	if u.params["region"] == "" && !strings.HasSuffix(strings.Split(u.host, ":")[0], ".amazonaws.com") {
		return urlError("Failed to get region from host or parameter in url, region is required for aws v4 signature")
	}
	for name := range u.params {
		if !blobParameters[name] {
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
var blobParameters = set("bucket", "region", "header", "secure_connection", "sc", "connect_tries", "ct", "connect_timeout", "cto",
	"max_connection_life", "mcl", "request_timeout_min", "rtom", "request_tries", "rt", "requests_per_second", "rps",
	"list_requests_per_second", "lrps", "write_requests_per_second", "wrps", "read_requests_per_second", "rrps",
	"delete_requests_per_second", "drps", "multipart_max_part_size", "maxps", "multipart_min_part_size", "minps",
	"concurrent_requests", "cr", "concurrent_uploads", "cu", "concurrent_lists", "cl", "concurrent_reads_per_file", "crpf",
	"concurrent_writes_per_file", "cwpf", "read_block_size", "rbs", "read_ahead_blocks", "rab", "read_cache_blocks_per_file", "rcb",
	"max_send_bytes_per_second", "sbps", "max_recv_bytes_per_second", "rbps", "sdk_auth", "sa", "global_connection_pool", "gcp")

var (
	// errStoreSilent means that the store never answers.
	errStoreSilent = errors.New("the store does not answer")
	// errNotADirectory means that the path cannot be made.
	errNotADirectory = errors.New("the path is a file")
)

// reach tells whether a tool gets through to the store of a URL.
func (s *stores) reach(u backupURL, files FileSystem, env map[string]string) error {
	if u.file {
		if _, err := files.ReadFile(path.Clean(u.path)); err == nil {
			return errNotADirectory
		}
		return nil
	}
	for _, b := range s.blob {
		if b.Host == u.host && b.admits(u, files, env) {
			return nil
		}
	}
	return errStoreSilent
}

func (b BlobStore) admits(u backupURL, files FileSystem, env map[string]string) bool {
	for _, bucket := range b.Buckets {
		if bucket != u.params["bucket"] {
			continue
		}
		wanted, known := b.Secrets[u.key]
		return b.Secrets == nil || known && wanted == secretOf(u, files, env)
	}
	return false
}

// unwritable are places that no agent can write to.
func unwritable(u backupURL) bool { return u.file && strings.HasPrefix(path.Clean(u.path), "/proc/") }
