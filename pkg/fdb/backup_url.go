package fdb

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// BackupPlace is a place in a blob store.
type BackupPlace struct {
	// Account is [key]@host[:port]. The default port is 443, or 80 when a parameter
	// turns secure connections off.
	Account string
	// Name is the path in the bucket.
	Name string
	// Bucket is the bucket; a parameter of that name comes before it.
	Bucket string
	// Parameters are further parameters, each name=value.
	Parameters []string
}

// ErrSecretInAccount means that an account holds more than a name, or a parameter asks for
// a header, which may hold one. The URL becomes an
// argument of commands, which the API server keeps in its audit log and everybody on a
// node can read, so it must not be built.
var ErrSecretInAccount = errors.New("the account holds a secret, or a parameter asks for a header, which may be one: leave the header out, name only the key, as key@host, and put the secret into a file that FDB_BLOB_CREDENTIALS names in the agents' pod template")

// URL is the place as fdbbackup and fdbrestore want it. Unlike the operator it takes the
// whole of a parameter's value, also behind a second equals sign, and does not leave a
// parameter out without a word when it has no value.
func (p BackupPlace) URL() (string, error) {
	key, host, found := strings.Cut(p.Account, "@")
	switch {
	case !found || host == "":
		return "", errors.New("the account is not key@host[:port]") // and is not shown: it may be a secret
	case strings.Contains(key, ":"):
		return "", ErrSecretInAccount
	case p.Name == "":
		return "", errors.New("the place has no name")
	}
	query := url.Values{"bucket": {p.Bucket}}
	secure := true
	for _, parameter := range p.Parameters {
		name, value, found := strings.Cut(parameter, "=")
		if !found || name == "" {
			return "", fmt.Errorf("parameter %q is not name=value", parameter)
		}
		if strings.EqualFold(name, "header") {
			return "", ErrSecretInAccount
		}
		query.Set(name, value)
		if value == "0" && (name == "sc" || name == "secure_connection") {
			secure = false
		}
	}
	// An empty key keeps its @: FoundationDB signs requests only where the URL contains one, and
	// takes key and secret from the credential files or the SDK where the key is empty.
	u := url.URL{Scheme: "blobstore", User: url.User(key), Host: withPort(host, secure), Path: "/" + p.Name, RawQuery: query.Encode()}
	text := u.String()
	if WithoutSecrets(text) != text {
		return "", ErrSecretInAccount
	}
	return text, nil
}

func withPort(host string, secure bool) string {
	if strings.Contains(host[strings.LastIndex(host, "]")+1:], ":") {
		return host
	}
	if secure {
		return host + ":443"
	}
	return host + ":80"
}

// hostAndPort is where a URL leads to, with the port that it means where it names none.
func hostAndPort(u *url.URL) string {
	secure := true
	for _, name := range []string{"sc", "secure_connection"} {
		secure = secure && u.Query().Get(name) != "0"
	}
	return withPort(strings.TrimSuffix(u.Host, ":"), secure)
}

// HasRegion reports whether a URL says in which region the store is: by a parameter, or
// by a host name of AWS. FoundationDB 7.3.79 refuses others.
func HasRegion(backupURL string) bool {
	u, err := url.Parse(backupURL)
	return err == nil && (u.Query().Get("region") != "" || strings.HasSuffix(u.Hostname(), ".amazonaws.com"))
}

// secrets are where texts with blob store URLs have secrets: behind the key, and in
// headers that a URL asks for. JSON writes an ampersand as \u0026.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(blobstore://[^@/\s:'"]*:)[^@\s'"]*(@)`),
	regexp.MustCompile(`(?i)((?:[?&]|\\u0026)header=[^&\s'":]*?(?::|%3A))[^&\s'"]*()`),
}

// WithoutSecrets is a text, perhaps with URLs of backups in it, that can be shown and
// kept: what the tools print repeats the URLs they were given by somebody else.
func WithoutSecrets(text string) string {
	for _, secret := range secrets {
		text = secret.ReplaceAllString(text, "${1}…${2}")
	}
	return text
}

// SameBackupURL reports whether two URLs name the same place in the same way: the order
// of parameters, a trailing slash and the default port do not count, and neither do secrets.
func SameBackupURL(a, b string) bool {
	return inOneWay(a) == inOneWay(b)
}

// SharesBackupPlace reports whether two URLs name one place, or one a place within the
// other: deleting the one touches the other. Keys and parameters other than the bucket do
// not count. What cannot be read may be anywhere.
func SharesBackupPlace(a, b string) bool {
	left, errLeft := url.Parse(withoutAny(a))
	right, errRight := url.Parse(withoutAny(b))
	if errLeft != nil || errRight != nil {
		return true
	}
	if !strings.EqualFold(hostAndPort(left), hostAndPort(right)) || left.Query().Get("bucket") != right.Query().Get("bucket") {
		return false
	}
	outer, inner := folder(left.Path), folder(right.Path)
	return strings.HasPrefix(inner, outer) || strings.HasPrefix(outer, inner)
}

// folder is a path with one slash, at its end; the bucket itself has none, and everything is
// in it.
func folder(path string) string { return strings.TrimPrefix(strings.Trim(path, "/")+"/", "/") }

// BackupBase is the bucket of a place, as a URL to list what is in it.
func BackupBase(place string) (string, error) {
	u, err := url.Parse(place)
	if err != nil {
		return "", errors.New("the place is no URL") // and is not shown: it may hold a secret
	}
	u.Path, u.RawPath = "/", ""
	return u.String(), nil
}

// SameBackupPlace reports whether two URLs name one place, whatever the keys and parameters
// other than the bucket are.
func SameBackupPlace(a, b string) bool {
	return SharesBackupPlace(a, b) && pathOf(a) == pathOf(b)
}

// withoutAny is a URL without a secret, and without the sign of one, which is in no URL.
func withoutAny(place string) string {
	return strings.ReplaceAll(WithoutSecrets(place), ":…@", "@")
}

func pathOf(place string) string {
	u, err := url.Parse(withoutAny(place))
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// inOneWay is a URL without what makes no difference.
func inOneWay(text string) string {
	text = withPortNamed(strings.TrimSuffix(withoutAny(text), "/"))
	plain, query, _ := strings.Cut(text, "?")
	parameters := strings.Split(query, "&")
	slices.Sort(parameters)
	return plain + "?" + strings.Join(parameters, "&")
}

// withPortNamed is a URL that names its port. One that cannot be read is left as it is.
func withPortNamed(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	scheme, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest+"/", "/?")
	return scheme + "://" + strings.TrimSuffix(rest[:end], u.Host) + hostAndPort(u) + rest[end:]
}
