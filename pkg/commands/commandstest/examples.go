package commandstest

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

var (
	exampleLine = regexp.MustCompile(`^(?:source <\()?kubectl[ -]fdb ([^|>)]*)[|)]?(?:> (\S+))?`)
	// ExampleWord is a word of an example, in quotes or not.
	ExampleWord = regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
	exampleID   = regexp.MustCompile(`\b(storage|log)-\d+\b`)
)

// ExampleWords are the arguments of an example, about what there is here, and the file that
// its output goes to. There are none in other lines.
func (v *Vault) ExampleWords(line, dir string) (words []string, to string) {
	parts := exampleLine.FindStringSubmatch(line)
	if parts == nil {
		return nil, ""
	}
	first := map[string]*v1beta2.ProcessGroupStatus{}
	for _, g := range v.Cluster.Resource.Status.ProcessGroups {
		if first[string(g.ProcessClass)] == nil {
			first[string(g.ProcessClass)] = g
		}
	}
	here := strings.NewReplacer("sample-cluster", "sample", "sample-backup", "nightly", "sample-restore", "again", "nightly-again", "again",
		"deploy/", filepath.Join(dir, "deploy")+"/", "10.1.0.7:4501", first["storage"].Addresses[0], ":8080", ":0", "2026-11-21T12", "2026-11-20T12", "plan.json", filepath.Join(dir, "plan.json"), "man1", filepath.Join(dir, "man1"), "report.xml", filepath.Join(dir, "report.xml"), "sample.tar.zst", filepath.Join(dir, "sample.tar.zst"),
		"maintenance on sample-cluster node-3", "maintenance on sample "+string(first["storage"].FaultDomain))
	text := parts[1]
	if !strings.Contains(text, ":removed") { // a removed group
		text = exampleID.ReplaceAllStringFunc(text, func(id string) string {
			class, _, _ := strings.Cut(id, "-")
			return string(first[class].ProcessGroupID)
		})
	}
	for _, word := range ExampleWord.FindAllString(here.Replace(text), -1) {
		words = append(words, strings.ReplaceAll(word, `"`, ""))
	}
	if parts[2] != "" {
		to = filepath.Join(dir, parts[2])
	}
	return words, to
}
