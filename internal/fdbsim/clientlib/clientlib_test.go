package clientlib

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

func TestClientLibraryMessagesRoundTrip(t *testing.T) {
	want := [][]byte{[]byte("set"), {}, []byte("a,b:3\x00"), bytes.Repeat([]byte("x"), 100_000)}
	from := bufio.NewReader(bytes.NewReader(slices.Concat(message(want...), message())))
	got, err := readMessage(from)
	if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %d fields (%v)", len(got), err)
	}
	if got, err := readMessage(from); err != nil || len(got) > 0 {
		t.Errorf("a message without fields: got %q (%v)", got, err)
	}
	if _, err := readMessage(from); !errors.Is(err, io.EOF) {
		t.Errorf("the end: got %v", err)
	}
}

func TestMalformedClientLibraryMessagesAreErrors(t *testing.T) {
	for _, text := range []string{"3", "3:ab", "3:abc;", "x:abc,", "-1:,", "4:1:a;,", "99999999:a,", "999999999999:a,", "3:1:a,"} {
		if got, err := readMessage(bufio.NewReader(strings.NewReader(text))); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: got %q (%v)", text, got, err)
		}
	}
}

// noFiles is a machine without files.
type noFiles struct{}

func (noFiles) ReadFile(string) ([]byte, error) { return nil, errors.New("no file") }
func (noFiles) WriteFile(string, []byte) error  { return errors.New("no file") }
func (noFiles) Writable(string) bool            { return false }

func anySimulation(string) *model.Simulation { return model.NewSimulation(model.Options{}) }

func replyTo(c net.Conn, fields ...string) [][]byte {
	var request [][]byte
	for _, f := range fields {
		request = append(request, []byte(f))
	}
	_, _ = c.Write(message(request...)) // a lost connection has no reply either
	reply, _ := readMessage(bufio.NewReader(c))
	return reply
}

func TestInvalidClientLibraryRequestsFail(t *testing.T) {
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), anySimulation, "7.3.79", noFiles{}, theirs)
	}()
	if err := ours.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		request string
		code    string
	}{
		{"get key", "1000"}, {"begin", "1000"}, {"commit", "1000"}, {"nonsense", "1000"}, {"", "1000"}, {"begin fdb.cluster", "1515"},
	} {
		if got := replyTo(ours, strings.Split(c.request, " ")...); len(got) != 1 || string(got[0]) != c.code {
			t.Errorf("%q: got %q, want %s", c.request, got, c.code)
		}
	}
	_ = ours.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestServeReturnsWhenTheContextIsCanceled(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Serve(ctx, anySimulation, "7.3.79", noFiles{}, theirs); err != nil {
		t.Error(err)
	}
}
