package fdb

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BackupPlace is a destination in a blob store.
type BackupPlace struct {
	// Account is [key]@host[:port]. The default port is 443, or 80 when a parameter
	// turns secure connections off.
	Account string
	// Name is the path in the bucket.
	Name string
	// Bucket is the bucket; a parameter of that name takes precedence.
	Bucket string
	// Parameters are further parameters, each name=value.
	Parameters []string
}

// ErrSecretInAccount means that an account has a secret, or a parameter sets a header,
// which may have one. The URL would become an argument of commands, which the API server
// keeps in its audit log and any user on a node can read, so it must not be built.
var ErrSecretInAccount = errors.New("the account must not have a secret, and parameters must not set a header, which may have one: use key@host and put the secret into a file that FDB_BLOB_CREDENTIALS names in the agents' pod template")

// URL returns the destination for fdbbackup and fdbrestore. Unlike the operator it keeps
// a parameter's value after a second equals sign, and returns an error for a parameter
// without a value instead of dropping it.
func (p BackupPlace) URL() (string, error) {
	key, host, found := strings.Cut(p.Account, "@")
	switch {
	case !found || host == "":
		return "", errors.New("the account must be key@host[:port]") // and is not shown: it may be a secret
	case strings.Contains(key, ":"):
		return "", ErrSecretInAccount
	case p.Name == "":
		return "", errors.New("the destination has no name")
	}
	query := url.Values{"bucket": {p.Bucket}}
	for _, parameter := range p.Parameters {
		name, value, found := strings.Cut(parameter, "=")
		if !found || name == "" {
			return "", fmt.Errorf("parameter %q must be name=value", parameter)
		}
		if strings.EqualFold(name, "header") {
			return "", ErrSecretInAccount
		}
		query.Set(name, value)
	}
	// An empty key keeps its @: FoundationDB signs requests only where the URL contains one, and
	// reads key and secret from the credential files or the SDK if the key is empty.
	u := url.URL{Scheme: "blobstore", User: url.User(key), Host: withPort(host, p.defaultPort()), Path: "/" + p.Name, RawQuery: query.Encode()}
	text := u.String()
	if WithoutSecrets(text) != text {
		return "", ErrSecretInAccount
	}
	return text, nil
}

// The default ports of a blob store.
const (
	httpsPort = ":443"
	httpPort  = ":80"
)

// Secure reports whether the store is accessed over TLS, which a parameter can turn off.
func (p BackupPlace) Secure() bool {
	return !slices.ContainsFunc(p.Parameters, func(parameter string) bool { return parameter == "sc=0" || parameter == "secure_connection=0" })
}

func (p BackupPlace) defaultPort() string {
	if p.Secure() {
		return httpsPort
	}
	return httpPort
}

func withPort(host, port string) string {
	if strings.Contains(host[strings.LastIndex(host, "]")+1:], ":") {
		return host
	}
	return host + port
}

// hostAndPort returns the host of a URL and its port, the default one if it has none.
func hostAndPort(u *url.URL) string {
	port := httpsPort
	for _, name := range []string{"sc", "secure_connection"} {
		if u.Query().Get(name) == "0" {
			port = httpPort
		}
	}
	return withPort(strings.TrimSuffix(u.Host, ":"), port)
}

// secrets match the secrets in texts with blob store URLs: after the key, and in
// headers that a URL sets. JSON writes an ampersand as \u0026.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(blobstore://[^@/\s:'"]*:)[^@\s'"]*(@)`),
	regexp.MustCompile(`(?i)((?:[?&]|\\u0026)header=[^&\s'":]*?(?::|%3A))[^&\s'"]*()`),
}

// WithoutSecrets returns a text with the secrets in URLs of backups removed, so that
// it can be printed and stored: the output of the tools repeats the URLs of other
// users.
func WithoutSecrets(text string) string {
	for _, secret := range secrets {
		text = secret.ReplaceAllString(text, "${1}…${2}")
	}
	return text
}

// SameBackupURL reports whether two URLs are equal, ignoring the order of parameters, a
// trailing slash, the default port and secrets.
func SameBackupURL(a, b string) bool {
	return canonicalURL(a) == canonicalURL(b)
}

// SharesBackupPlace reports whether two URLs have the same destination, or one is within
// the other, so that deleting one affects the other. Keys and parameters other than the
// bucket are ignored. A URL that cannot be parsed may be any destination.
func SharesBackupPlace(a, b string) bool {
	left, errLeft := url.Parse(withoutMarks(a))
	right, errRight := url.Parse(withoutMarks(b))
	if errLeft != nil || errRight != nil {
		return true
	}
	if !strings.EqualFold(hostAndPort(left), hostAndPort(right)) || left.Query().Get("bucket") != right.Query().Get("bucket") {
		return false
	}
	outer, inner := folder(left.Path), folder(right.Path)
	return strings.HasPrefix(inner, outer) || strings.HasPrefix(outer, inner)
}

// folder returns a path with a single slash at its end; the bucket itself is empty and
// contains everything.
func folder(path string) string { return strings.TrimPrefix(strings.Trim(path, "/")+"/", "/") }

// BackupBase returns the bucket of a destination, as a URL to list its
// backups.
func BackupBase(place string) (string, error) {
	u, err := url.Parse(place)
	if err != nil {
		return "", errors.New("the destination is not a URL") // and is not shown: it may hold a secret
	}
	u.Path, u.RawPath = "/", ""
	return u.String(), nil
}

// SameBackupPlace reports whether two URLs have the same destination, ignoring keys and
// parameters other than the bucket.
func SameBackupPlace(a, b string) bool {
	return SharesBackupPlace(a, b) && pathOf(a) == pathOf(b)
}

// withoutMarks returns a URL without secrets and without the mark that replaces one.
func withoutMarks(place string) string {
	return strings.ReplaceAll(WithoutSecrets(place), ":…@", "@")
}

func pathOf(place string) string {
	u, err := url.Parse(withoutMarks(place))
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// canonicalURL returns a URL without irrelevant differences.
func canonicalURL(text string) string {
	text = withExplicitPort(strings.TrimSuffix(withoutMarks(text), "/"))
	plain, query, _ := strings.Cut(text, "?")
	parameters := strings.Split(query, "&")
	slices.Sort(parameters)
	return plain + "?" + strings.Join(parameters, "&")
}

// withExplicitPort returns a URL with its port. A URL that cannot be parsed is returned
// unchanged.
func withExplicitPort(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest+"/", "/?")
	return scheme + "://" + strings.TrimSuffix(rest[:end], u.Host) + hostAndPort(u) + rest[end:]
}

// BackupClusterFile is the cluster file in a pod of backup agents.
const BackupClusterFile = "/var/dynamic-conf/fdb.cluster"

// BackupStart has the parameters of a backup to start.
type BackupStart struct {
	URL string
	Tag string
	// Continuous backups keep running after their first snapshot, and take one every
	// Period.
	Continuous bool
	Period     time.Duration
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
	// PartitionedLog makes backup workers read changes from the logs.
	PartitionedLog bool
}

// Command returns the command line, without the program's directory, for tools of a
// version. The encryption key is omitted for versions that cannot encrypt: the caller
// must have rejected it.
func (b BackupStart) Command(v Version) []string {
	argv := []string{"fdbbackup", "start", "-d", b.URL, "-t", b.Tag}
	if b.Continuous {
		argv = append(argv, "-s", wholeSeconds(b.Period), "-z")
	}
	if b.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", b.EncryptionKeyFile)
	}
	switch {
	case b.PartitionedLog && v.HasMutationLogType():
		argv = append(argv, "--mutation-log-type", "partitioned-log-experimental")
	case b.PartitionedLog:
		argv = append(argv, "--partitioned-log-experimental")
	}
	return argv
}

// BackupChange is a change of a running backup.
type BackupChange struct {
	Tag    string
	Period time.Duration
	// URL is empty to keep the destination.
	URL string
	// EncryptionKeyFile is for a new URL; without one the tools ignore it.
	EncryptionKeyFile string
}

// Command returns the command line. It has the destination and key only if the
// destination changes, since they make the tools access the store.
func (b BackupChange) Command() []string {
	argv := []string{"fdbbackup", "modify", "-t", b.Tag, "-s", wholeSeconds(b.Period)}
	if b.URL == "" {
		return argv
	}
	argv = append(argv, "-d", b.URL)
	if b.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", b.EncryptionKeyFile)
	}
	return argv
}

// RestoreStart has the parameters of a restore to start.
type RestoreStart struct {
	URL string
	// Version is the version to restore; nil for the latest restorable one.
	Version *uint64
	// Ranges are the key ranges to restore; none for everything.
	Ranges [][2]string
	// EncryptionKeyFile is empty for no encryption.
	EncryptionKeyFile string
}

// Command returns the command line.
func (r RestoreStart) Command() []string {
	argv := []string{"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", r.URL}
	if r.EncryptionKeyFile != "" {
		argv = append(argv, "--encryption-key-file", r.EncryptionKeyFile)
	}
	if r.Version != nil {
		argv = append(argv, "-v", strconv.FormatUint(*r.Version, 10))
	}
	if len(r.Ranges) > 0 {
		ranges := make([]string, len(r.Ranges))
		for i, keys := range r.Ranges {
			ranges[i] = keys[0] + " " + keys[1]
		}
		argv = append(argv, "-k", strings.Join(ranges, ";"))
	}
	return argv
}

// WithKnobs appends parameters to a command line, except localities, which only agents
// accept.
func WithKnobs(argv, parameters []string) []string {
	for _, p := range parameters {
		if !strings.HasPrefix(p, "locality_") && !strings.HasPrefix(p, "locality-") {
			argv = append(argv, "--"+p)
		}
	}
	return argv
}

func wholeSeconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
