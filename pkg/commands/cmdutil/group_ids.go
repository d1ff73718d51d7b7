package cmdutil

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// ExpandArgs replaces each "-" by the words on stdin, one or more a line.
func ExpandArgs(ids []string, stdin io.Reader) ([]string, error) {
	var words []string
	for _, id := range ids {
		if id != session.FromStdin {
			words = append(words, id)
			continue
		}
		lines := bufio.NewScanner(stdin)
		for lines.Scan() {
			words = append(words, strings.Fields(lines.Text())...)
		}
		if err := lines.Err(); err != nil {
			return nil, exit.Usage(fmt.Errorf("read stdin: %w", err))
		}
	}
	if len(ids) > 0 && len(words) == 0 {
		return nil, exit.Usage(errors.New("stdin is empty: process groups expected"))
	}
	return words, nil
}
