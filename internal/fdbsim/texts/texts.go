// Package texts has the texts that the real programs print about themselves:
// their usage, and fdbcli's help, as FoundationDB 7.3.79 prints them.
package texts

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.txt *.json
var files embed.FS

// Usage is what a program prints about its options, without its first line, which
// names its version; empty for a program without one.
func Usage(program string) string {
	content, err := files.ReadFile(program + ".txt")
	if err != nil {
		return ""
	}
	return string(content)
}

// Overview is the topic that lists the commands of fdbcli.
const Overview = "overview"

// Help is what fdbcli prints about a topic; false without one.
func Help(topic string) (string, bool) {
	text, ok := topics()[topic]
	return text, ok
}

// CommandUsage is how a command of fdbcli is called; false for one that fdbcli does not document.
func CommandUsage(command string) (string, bool) {
	if usage, ok := undocumented[command]; ok {
		return usage, true
	}
	text, ok := topics()[command]
	if !ok {
		return "", false
	}
	usage, _, _ := strings.Cut(strings.TrimPrefix(text, "\n"), "\n\n")
	return usage, true
}

// undocumented are commands that have a usage and no help.
var undocumented = map[string]string{
	"blobrange":     "blobrange <start|stop|check|purge|forcepurge|flush|compact> <startkey> <endkey> [version]",
	"changefeed":    "changefeed <register|destroy|stop|stream|pop|list> <RANGEID> <BEGIN> <END>",
	"blobkey":       "blobkey history <key> [version]",
	"blobrestore":   "blobrestore [version]",
	"help":          "help [<topic>]",
	"quit":          "",
	"waitconnected": "",
	"waitopen":      "",
}

// topics are the sections of the help. Each begins with a line "== TOPIC".
var topics = sync.OnceValue(func() map[string]string {
	found := map[string]string{}
	content, err := files.ReadFile("fdbcli-help.txt")
	if err != nil {
		return found // it is embedded
	}
	for section := range strings.SplitSeq("\n"+strings.TrimSuffix(string(content), "\n"), "\n== ") {
		name, text, ok := strings.Cut(section, "\n")
		if ok {
			found[name] = text + "\n"
		}
	}
	return found
})
