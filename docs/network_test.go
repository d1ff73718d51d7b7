package docs

import (
	"slices"
	"strings"
	"testing"
)

// networkFiles are the packages that import a network package, with the reason. Everything else
// reaches the API server through client-go, and can open no other connection.
var networkFiles = map[string]struct {
	imports []string
	why     string
}{
	"pkg/commands/webhook":   {[]string{"net"}, "listens for the API server"},
	"pkg/commands/dump":      {[]string{"net/http"}, "the names of status codes"},
	"pkg/dumps":              {[]string{"net/http"}, "answers requests from a dump; it opens no connection"},
	"pkg/evictionhook":       {[]string{"net", "net/http"}, "serves evictions"},
	"pkg/fdb/admin":          {[]string{"net/http", "net/url"}, "the request that becomes pods/exec"},
	"pkg/fdb/direct":         {[]string{"net"}, "resolves the names in a cluster file, for the native transport"},
	"pkg/fdb":                {[]string{"net/url"}, "URLs of backups"},
	"pkg/fdb/versionfacts":   {[]string{"net/url"}, "checks the sources of facts"},
	"pkg/reconcile/live":     {[]string{"net", "net/http", "net/url"}, "the local end of a forwarded port, and the types of errors"},
	"pkg/session":            {[]string{"net"}, "checks addresses in flags"},
	"pkg/session/exit":       {[]string{"net", "net/url", "golang.org/x/net/http2"}, "the types of errors"},
	"pkg/session/servertime": {[]string{"net/http"}, "reads a header of answers; it opens no connection"},
	"pkg/ui/check":           {[]string{"net/url"}, "writes paths of files as SARIF has them"},
	"pkg/ui/metrics":         {[]string{"net", "net/http", "github.com/prometheus/client_golang/prometheus/promhttp"}, "serves metrics"},
}

func TestOnlyKnownPackagesImportNetworkPackages(t *testing.T) {
	for name, p := range sourcePackages(t) {
		if strings.HasPrefix(name, "internal/") {
			continue
		}
		for _, path := range p.Imports {
			if isNetwork(path) && !slices.Contains(networkFiles[name].imports, path) {
				t.Errorf("%s imports %s: packages of the plugin reach the API server through client-go", name, path)
			}
		}
	}
	for name, known := range networkFiles {
		for _, path := range known.imports {
			if p := sourcePackages(t)[name]; p == nil || !slices.Contains(p.Imports, path) {
				t.Errorf("%s is listed with %s (%s), which it does not import", name, path, known.why)
			}
		}
	}
}

func isNetwork(path string) bool {
	known := []string{"github.com/gorilla/websocket", "google.golang.org/grpc", "github.com/prometheus/client_golang/prometheus/push"}
	return path == "net" || strings.HasPrefix(path, "net/") && path != "net/netip" || strings.HasPrefix(path, "golang.org/x/net/") ||
		strings.HasSuffix(path, "/promhttp") || strings.Contains(path, "opentelemetry") || slices.Contains(known, path)
}
