package datadir

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
)

// written writes files into a data directory.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// record is a record of the key-value store in a coordination file, as fdbserver writes it: the operation, the lengths
// of key and value, and these.
func record(key, value string) string {
	lengths := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0}, uint32(len(key)))
	return string(binary.LittleEndian.AppendUint32(lengths, uint32(len(value)))) + key + value + "\x01"
}

// stateOf is the value of a coordinator whose state has so many sets of logs and generations of old ones, and more
// that follows. Between the numbers is that of tags of log routers.
func stateOf(logs, old uint32, more string) string {
	numbers := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, logs), 0), old)
	inner := "\x00\x00\x00\x72\xb0\x00\xdb\x0f" + string(numbers) + "\x01\x00\x00\x00\x00\x00\x00\x00" + more
	movable := "\x01\x00\x01\x62\xb0\x00\xdb\x0f" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(inner)))) + inner + "\x02\x00\x00\x00\x00"
	return generations + "\x01" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(movable)))) + movable
}

// generations are the protocol version, and the generations of the last reader and writer, with line feeds.
var generations = "\x01\x00\x01\x62\xb0\x00\xdb\x0f" + strings.Repeat("\x0a", 48)

// Values of a coordinator without state that was read, with the state before a database is created, with that of
// a database, and with one that is as short as the second.
var (
	noState  = generations + "\x00"
	newState = stateOf(0, 0, strings.Repeat("\x00", 36))
	state    = stateOf(1, 0, strings.Repeat("logs", 150))
	short    = stateOf(1, 0, strings.Repeat("\x00", 36))
	old      = stateOf(0, 1, strings.Repeat("\x00", 36))
)

// The script runs on this machine as it runs in a container.
func TestTheCollectScriptReadsCoordinationFilesOfAVolume(t *testing.T) {
	const current, clusterFile = "sample:abc", "# DO NOT EDIT!\nsample:abc@10.0.0.1:4501,10.0.0.2:4501"
	tests := map[string]struct {
		files map[string]string
		// paths are those of coordination files, in the data directory; current which are of the generation.
		paths, current []string
		// blank are those with the name of the generation and no state, data the files of storage and log servers.
		blank, data []string
		generation  string
		fails       bool
	}{
		"an empty volume":                         {files: map[string]string{}},
		"a cluster file without a last line feed": {files: map[string]string{"fdb.cluster": clusterFile}, generation: current},
		"state of the generation": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": "\x00\x01key sample:abc\x00value", "2/coordination-0.fdq": "\x00nothing"},
			paths: []string{"1/coordination-0.fdq", "2/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a read, without state": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": "page\n" + record(current, noState) + record(current, noState)},
			paths: []string{"1/coordination-0.fdq"}, blank: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"files of storage and log servers": {
			files: map[string]string{"1/storage-aa.sqlite": "", "1/storage-aa.sqlite-wal": "", "2/logqueue-V_2-bb-0.fdq": "", "2/log2-V_2-bb.sqlite": "", "3/storage-cc.redwood-v1": "", "4/testingstorage-dd.rocksdb": "", "processId": "", "1/processId": "", "1/globalconf-0.fdq": "", "1/localconf-1.fdq": "", "1/sw-version": "", "5/clusterId": ""},
			data:  []string{"1/storage-aa.sqlite", "1/storage-aa.sqlite-wal", "2/log2-V_2-bb.sqlite", "2/logqueue-V_2-bb-0.fdq", "3/storage-cc.redwood-v1", "4/testingstorage-dd.rocksdb", "5/clusterId"},
		},
		"the state before a database is created": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, noState), "1/coordination-1.fdq": record(current, newState)},
			paths: []string{"1/coordination-0.fdq", "1/coordination-1.fdq"}, blank: []string{"1/coordination-0.fdq", "1/coordination-1.fdq"}, generation: current,
		},
		"a short state with logs": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, newState) + record(current, short)},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a short state with old logs": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, old)},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a state that is cut off": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, newState)[:60]},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a long state that looks empty": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, stateOf(0, 0, strings.Repeat("\x00", 400)))},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"state after a read": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, noState) + record(current, state)},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a read after state": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, state) + record(current, noState)},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a key whose length is in the page before": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": record(current, noState) + "\xf0\x0f\x00\x00" + current + state},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a key at the beginning": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": current + "\x00"},
			paths: []string{"1/coordination-0.fdq"}, current: []string{"1/coordination-0.fdq"}, generation: current,
		},
		"a former coordinator refers to the generation": {
			files: map[string]string{"fdb.cluster": clusterFile, "coordination-1.fdq": "sample:old\x00sample:abc@10.0.0.1:4501"},
			paths: []string{"coordination-1.fdq"}, generation: current,
		},
		"a longer name is another one": {
			files: map[string]string{"fdb.cluster": clusterFile, "1/coordination-0.fdq": "sample:abcd\x00", "2/coordination-0.fdq": "sample:abd\x00"},
			paths: []string{"1/coordination-0.fdq", "2/coordination-0.fdq"}, generation: current,
		},
		"a cluster file that is cut off": {files: map[string]string{"fdb.cluster": "sample:abc@10.0"}, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := written(t, tc.files)
			r, err := admin.LocalExec{}.Run(t.Context(), admin.Command{Argv: argv(dir, current), Limit: time.Minute})
			if err != nil || r.ExitCode != 0 {
				t.Fatalf("%v: %s", err, r.Stderr)
			}
			f, err := Parse(string(r.Stdout))
			if tc.fails {
				if err == nil {
					t.Errorf("%+v", f)
				}
				return
			}
			if err != nil || f.Generation != tc.generation {
				t.Fatalf("generation %q, want %q: %v", f.Generation, tc.generation, err)
			}
			var paths, ofGeneration, blank, data []string
			for _, path := range f.Data {
				relative, _ := filepath.Rel(dir, path)
				data = append(data, relative)
			}
			for _, file := range f.Coordination {
				path, _ := filepath.Rel(dir, file.Path)
				paths = append(paths, path)
				if file.Current {
					ofGeneration = append(ofGeneration, path)
				}
				if file.Blank {
					blank = append(blank, path)
				}
				if file.Bytes != int64(len(tc.files[path])) || time.Since(file.Modified) > time.Hour {
					t.Errorf("%+v", file)
				}
			}
			slices.Sort(paths)
			if !slices.Equal(paths, tc.paths) || !slices.Equal(ofGeneration, tc.current) {
				t.Errorf("files %v, of the generation %v, want %v and %v", paths, ofGeneration, tc.paths, tc.current)
			}
			if !slices.Equal(blank, tc.blank) || !slices.Equal(data, tc.data) {
				t.Errorf("without a state %v, files of servers %v, want %v and %v", blank, data, tc.blank, tc.data)
			}
		})
	}
}

// Images may lack a program of the script. Then nothing is proven.
func TestWithoutOdTheStateOfACoordinatorIsUnknown(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{"sh", "grep", "cut", "stat", "tr", "sed", "cat"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := written(t, map[string]string{"1/coordination-0.fdq": record("sample:abc", noState)})
	r, err := admin.LocalExec{}.Run(t.Context(), admin.Command{Argv: append([]string{"env", "PATH=" + programs}, argv(dir, "sample:abc")...), Limit: time.Minute})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%v: %s", err, r.Stderr)
	}
	f, err := Parse(string(r.Stdout))
	if err != nil || len(f.Coordination) != 1 || !f.Coordination[0].Unknown || !f.Coordination[0].Current || f.Coordination[0].Blank {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestADataDirectoryThatCannotBeReadIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	r, err := admin.LocalExec{}.Run(t.Context(), admin.Command{Argv: argv(dir, "sample:abc"), Limit: time.Minute})
	if want := dir + " cannot be read\n"; err != nil || r.ExitCode == 0 || string(r.Stderr) != want {
		t.Errorf("%+v, %v, want %q", r, err, want)
	}
}

func TestIncompleteFileListingsOfPodsAreNotParsed(t *testing.T) {
	for _, text := range []string{"", "cluster sample:abc@10.0.0.1:4501\n", "process x\nend\n", "coordination 1 2 yes\nend\n", "coordination x 2 yes f\nend\n", "hello\nend\n"} {
		if f, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, f)
		}
	}
	f, err := Parse("cluster sample:abc@10.0.0.1:4501\nprocess 12\nend\n")
	if err != nil || !slices.Equal(f.Processes, []int{12}) || f.ClusterFile != "sample:abc@10.0.0.1:4501" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestAddressesAndDataDirectoriesAreParsedFromCommandLines(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		want      Server
	}{
		"as one argument":       {arguments: []string{"fdbserver", "--datadir=/var/fdb/data/1", "--public_address=10.0.0.1:4501:tls,10.0.0.1:4500"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501:tls", "10.0.0.1:4500"}, Directory: "/var/fdb/data/1"}},
		"as two, with dashes":   {arguments: []string{"fdbserver", "--datadir", "/var/fdb/data", "--public-address", "10.0.0.1:4501"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Directory: "/var/fdb/data"}},
		"with short flags":      {arguments: []string{"fdbserver", "-d", "/var/fdb/data", "-p", "10.0.0.1:4501"}, want: Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Directory: "/var/fdb/data"}},
		"without what they say": {arguments: []string{"fdbserver", "--datadir"}, want: Server{PID: 7, Addresses: []string{}}},
		"with localities": {
			arguments: []string{"fdbserver", "--class", "log", "--locality_zoneid=z1", "--locality-data_hall", "h1", "-p", "10.0.0.1:4501"},
			want:      Server{PID: 7, Addresses: []string{"10.0.0.1:4501"}, Class: "log", Localities: map[string]string{"zoneid": "z1", "data_hall": "h1"}},
		},
		"an unknown address": {arguments: []string{"fdbserver", "-p", "4501"}, want: Server{PID: 7, Addresses: []string{}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			output := "process 7\n"
			for _, argument := range tc.arguments {
				output += "argument 7 " + argument + "\n"
			}
			f, err := Parse(output + "end\n")
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]Server{tc.want}, f.Servers); d != "" {
				t.Error(d)
			}
		})
	}
}
