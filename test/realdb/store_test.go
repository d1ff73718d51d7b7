package realdb

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// store is an S3-compatible store in memory, with what the real backup tools use of it. It checks no
// signature.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
	// uploads are the parts of unfinished uploads by the upload's ID and their numbers.
	uploads map[string]map[int][]byte
}

// startStore starts a store, and returns it with the address that pods use.
func startStore(t *test) (s *store, address string) {
	t.Helper()
	s = &store{objects: map[string][]byte{}, uploads: map[string]map[int][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s, at.Host
}

// size returns how many objects there are, and their bytes.
func (s *store) size() (objects, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, content := range s.objects {
		size += len(content)
	}
	return len(s.objects), size
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/")
	if bucket, object, _ := strings.Cut(name, "/"); object == "" {
		if r.Method == http.MethodGet {
			s.list(w, bucket, r.URL.Query())
		}
		return // every bucket exists
	}
	switch r.Method {
	case http.MethodPost:
		s.upload(w, name, r.URL.Query())
	case http.MethodPut:
		s.put(w, name, r.URL.Query(), body)
	case http.MethodDelete:
		delete(s.objects, name)
		delete(s.uploads, r.URL.Query().Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	default:
		content, found := s.objects[name]
		if !found {
			http.Error(w, "no such key", http.StatusNotFound)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// upload begins an upload of several parts, or ends it.
func (s *store) upload(w http.ResponseWriter, name string, query url.Values) {
	if query.Has("uploads") {
		id := strconv.Itoa(len(s.uploads) + 1)
		s.uploads[id] = map[int][]byte{}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
		return
	}
	parts := s.uploads[query.Get("uploadId")]
	var content []byte
	for n := range len(parts) {
		content = append(content, parts[n+1]...)
	}
	s.objects[name] = content
	fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
}

func (s *store) put(w http.ResponseWriter, name string, query url.Values, body []byte) {
	sum := md5.Sum(body)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	if !query.Has("partNumber") {
		s.objects[name] = body
		return
	}
	n, err := strconv.Atoi(query.Get("partNumber"))
	parts, found := s.uploads[query.Get("uploadId")]
	if err != nil || !found {
		http.Error(w, "no such upload", http.StatusNotFound)
		return
	}
	parts[n] = body
}

// listed is the answer to a listing.
type listed struct {
	XMLName     xml.Name `xml:"ListBucketResult"`
	IsTruncated bool
	Contents    []listedObject
	Prefixes    []listedPrefix `xml:"CommonPrefixes"`
}

type listedObject struct {
	Key  string
	Size int
}

type listedPrefix struct{ Prefix string }

// list answers with all objects of a bucket at once.
func (s *store) list(w http.ResponseWriter, bucket string, query url.Values) {
	var answer listed
	for name, content := range s.objects {
		key, inside := strings.CutPrefix(name, bucket+"/")
		rest, matches := strings.CutPrefix(key, query.Get("prefix"))
		if !inside || !matches || key <= query.Get("marker") {
			continue
		}
		if folder, _, deeper := strings.Cut(rest, query.Get("delimiter")); deeper && query.Get("delimiter") != "" {
			one := listedPrefix{query.Get("prefix") + folder + query.Get("delimiter")}
			if !slices.Contains(answer.Prefixes, one) {
				answer.Prefixes = append(answer.Prefixes, one)
			}
			continue
		}
		answer.Contents = append(answer.Contents, listedObject{key, len(content)})
	}
	slices.SortFunc(answer.Contents, func(a, b listedObject) int { return strings.Compare(a.Key, b.Key) })
	slices.SortFunc(answer.Prefixes, func(a, b listedPrefix) int { return strings.Compare(a.Prefix, b.Prefix) })
	text, err := xml.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	fmt.Fprintf(w, "%s", text)
}
