package pipelines

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	token = "ghs_loopback0123456789"
	// bot is the user of the token.
	bot = "github-actions[bot]"
)

// comment is one of a pull request.
type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User user   `json:"user"`
}

type user struct {
	Login string `json:"login"`
}

// gitHub has the comments of pull request 12 of orders/infrastructure. Beside the API of GitHub it has that of GitLab, for
// the same comments as notes of a merge request of project 4711.
type gitHub struct {
	*httptest.Server
	mu       sync.Mutex
	comments []comment
	refuse   bool
	unnamed  bool // does not return the user of a token
	requests []string
}

func newGitHub(t *testing.T) *gitHub {
	t.Helper()
	g := &gitHub{}
	mux := http.NewServeMux()
	const repository = "/repos/orders/infrastructure/issues/"
	mux.HandleFunc("GET "+repository+"12/comments", g.list)
	mux.HandleFunc("POST "+repository+"12/comments", g.create)
	mux.HandleFunc("PATCH "+repository+"comments/{id}", g.update)
	mux.HandleFunc("POST /graphql", g.viewer)
	const notes = "/projects/4711/merge_requests/12/notes"
	mux.HandleFunc("GET "+notes, g.notes)
	mux.HandleFunc("POST "+notes, g.create)
	mux.HandleFunc("PUT "+notes+"/{id}", g.update)
	mux.HandleFunc("GET /user", g.user)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.requests = append(g.requests, r.Method)
		if g.refuse || r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gitHub) viewer(w http.ResponseWriter, r *http.Request) {
	content, _ := io.ReadAll(r.Body)
	if string(content) != `{"query":"{viewer{login}}"}` || g.unnamed {
		fmt.Fprint(w, `{"data":null,"errors":[{"message":"Resource not accessible by integration"}]}`)
		return
	}
	fmt.Fprintf(w, `{"data":{"viewer":{"login":%q}}}`, bot)
}

// user is the user of a token of GitLab.
func (g *gitHub) user(w http.ResponseWriter, _ *http.Request) {
	if g.unnamed {
		http.Error(w, `{"error":"insufficient_scope"}`, http.StatusForbidden)
		return
	}
	fmt.Fprintf(w, `{"username":%q}`, bot)
}

func (g *gitHub) list(w http.ResponseWriter, r *http.Request) {
	_ = json.NewEncoder(w).Encode(g.page(r))
}

// page returns one page of the comments.
func (g *gitHub) page(r *http.Request) []comment {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	from := min((page-1)*size, len(g.comments))
	return append([]comment{}, g.comments[from:min(from+size, len(g.comments))]...)
}

// notes lists the comments as GitLab does.
func (g *gitHub) notes(w http.ResponseWriter, r *http.Request) {
	type note struct {
		ID     int               `json:"id"`
		Body   string            `json:"body"`
		Author map[string]string `json:"author"`
	}
	all := []note{}
	for _, c := range g.page(r) {
		all = append(all, note{c.ID, c.Body, map[string]string{"username": c.User.Login}})
	}
	_ = json.NewEncoder(w).Encode(all)
}

// text is the body of a request. GitHub accepts 65,536 characters.
func text(w http.ResponseWriter, r *http.Request) (string, bool) {
	var c comment
	content, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil || c.Body == "" || len([]rune(c.Body)) > 65536 {
		http.Error(w, fmt.Sprintf(`{"message":"Validation Failed"} %v`, err), http.StatusUnprocessableEntity)
		return "", false
	}
	return c.Body, true
}

func (g *gitHub) create(w http.ResponseWriter, r *http.Request) {
	if body, valid := text(w, r); valid {
		g.comments = append(g.comments, comment{ID: 1000 + len(g.comments), Body: body, User: user{bot}})
		w.WriteHeader(http.StatusCreated)
	}
}

func (g *gitHub) update(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(g.comments, func(c comment) bool { return strconv.Itoa(c.ID) == r.PathValue("id") })
	switch {
	case i < 0:
		http.NotFound(w, r)
	default: // who may write to a repository may change the comments of all
		if body, valid := text(w, r); valid {
			g.comments[i].Body = body
		}
	}
}

// written are the comments that begin with a marker and are of no other user.
func (g *gitHub) written() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, c := range g.comments {
		if c.User.Login == bot && strings.HasPrefix(c.Body, "<!-- kubectl-fdb ") {
			all = append(all, c.Body)
		}
	}
	return all
}
