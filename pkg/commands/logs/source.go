package logs

import (
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/dumps"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// maxTraces is how many trace files of a pod are read, the newest ones.
const maxTraces = 12

// traceFile is a trace file of a pod.
type traceFile struct {
	name string
	size int64
}

// source is where logs are read from: pods, or a dump.
type source interface {
	// log returns the end of the log of a container, and how much before it was not read; -1 is unknown.
	log(ctx context.Context, pod *corev1.Pod, o *corev1.PodLogOptions, most int64) (content []byte, omitted int64, err error)
	// traces returns the trace files of a pod, the newest first.
	traces(ctx context.Context, pod *corev1.Pod) ([]traceFile, error)
	// after returns a trace file after its first bytes.
	after(ctx context.Context, pod *corev1.Pod, name string, first int64) ([]byte, error)
}

// livePods reads from pods.
type livePods struct{ env *session.Env }

func (l livePods) log(ctx context.Context, pod *corev1.Pod, o *corev1.PodLogOptions, most int64) ([]byte, int64, error) {
	stream, err := l.env.Logs(ctx, pod.Namespace, pod.Name, o)
	if err != nil {
		return nil, 0, err
	}
	defer stream.Close()
	end := &cmdutil.End{Max: most}
	_, err = io.Copy(end, stream)
	return end.Kept, end.Omitted, err
}

func (l livePods) traces(ctx context.Context, pod *corev1.Pod) ([]traceFile, error) {
	t, err := l.env.Tool(pod, v1beta2.ContainerMain)
	if err != nil {
		return nil, err
	}
	names, err := cmdutil.TraceNames(ctx, t)
	names = slices.DeleteFunc(names, func(name string) bool { return !isTrace(name) })
	if err != nil || len(names) == 0 {
		return nil, err
	}
	names = names[:min(len(names), maxTraces)]
	sizes, err := sizesOf(ctx, t, names)
	if err != nil {
		return nil, err
	}
	var files []traceFile
	for _, name := range names {
		if size, there := sizes[name]; there { // it was not removed meanwhile
			files = append(files, traceFile{name, size})
		}
	}
	return files, nil
}

// isTrace reports whether a file of the directory has events. The log of the monitor that is there as
// well is what its container prints.
func isTrace(name string) bool {
	extension := path.Ext(name)
	return extension == ".xml" || extension == ".json"
}

// sizesOf returns the sizes of trace files by name.
func sizesOf(ctx context.Context, t admin.Transport, names []string) (map[string]int64, error) {
	argv := []string{"wc", "-c"}
	for _, name := range names {
		argv = append(argv, path.Join(cmdutil.TracesDirectory, path.Base(name)))
	}
	r, err := t.Run(ctx, admin.Command{Argv: argv, Limit: cmdutil.PodLimit, Reads: true})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(r.Stdout)) { // the last one is the total of several
		words := strings.Fields(line)
		if len(words) != 2 || path.Dir(words[1]) != cmdutil.TracesDirectory {
			continue
		}
		if size, err := strconv.ParseInt(words[0], 10, 64); err == nil {
			sizes[path.Base(words[1])] = size
		}
	}
	return sizes, nil
}

func (l livePods) after(ctx context.Context, pod *corev1.Pod, name string, first int64) ([]byte, error) {
	t, err := l.env.Tool(pod, v1beta2.ContainerMain)
	if err != nil {
		return nil, err
	}
	return cmdutil.Printed(ctx, t, "tail", "-c", "+"+strconv.FormatInt(first+1, 10), path.Join(cmdutil.TracesDirectory, path.Base(name)))
}

// dump reads from the files of a dump.
type dump struct {
	files   map[string][]byte
	omitted map[string]int64
}

// errNotDumped is why a log of a dump cannot be read.
var errNotDumped = errors.New("not in the dump; its manifest.json has the reason")

func (d dump) log(_ context.Context, pod *corev1.Pod, o *corev1.PodLogOptions, most int64) ([]byte, int64, error) {
	name := dumps.LogFile(pod.Namespace, pod.Name, o)
	content, has := d.files[name]
	if !has {
		return nil, 0, errNotDumped
	}
	end := &cmdutil.End{Max: most}
	_, _ = end.Write(content) // into memory
	if end.Omitted == 0 {
		end.Omitted = d.omitted[name]
	}
	return end.Kept, end.Omitted, nil
}

// traces returns the trace files in the reverse order of their names, which have the time of their
// beginning.
func (d dump) traces(_ context.Context, pod *corev1.Pod) ([]traceFile, error) {
	directory := dumps.TracesOf(pod.Namespace, pod.Name)
	var files []traceFile
	has := false
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(d.files))) {
		in := path.Dir(name)+"/" == directory
		has = has || in
		if in && isTrace(name) {
			files = append(files, traceFile{path.Base(name), int64(len(d.files[name]))})
		}
	}
	if !has {
		return nil, errNotDumped
	}
	return files, nil
}

func (d dump) after(_ context.Context, pod *corev1.Pod, name string, first int64) ([]byte, error) {
	content := d.files[dumps.TracesOf(pod.Namespace, pod.Name)+name]
	return content[min(first, int64(len(content))):], nil
}
