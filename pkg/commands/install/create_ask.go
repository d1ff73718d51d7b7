package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// suggestedVersion is the release that this program was compared with, command by command.
const suggestedVersion = "7.3.79"

// question is the prompt for a setting. The flag of the setting has the default, and the answer.
type question struct {
	flag string
	// words are the question, with what the default means.
	words string
	// otherwise is the default where the flag has none.
	otherwise string
	// check returns why an answer is invalid.
	check func(answer string) error
}

// questions are the settings that a new cluster is most often changed for. All others are flags.
var questions = []question{
	{"version", "Version of FoundationDB", suggestedVersion, func(answer string) error {
		_, err := fdb.ParseVersion(answer)
		return err
	}},
	{"redundancy", "Redundancy mode (double keeps 2 copies and survives the loss of 1 fault domain, triple 3 and 2)", "", func(answer string) error {
		if modes := fdb.RedundancyModes(); !slices.Contains(modes, answer) {
			return fmt.Errorf("must be one of %s", strings.Join(modes, ", "))
		}
		return nil
	}},
	{"storage", "Number of storage processes (0 is the default of the redundancy mode)", "", func(answer string) error {
		if n, err := strconv.Atoi(answer); err != nil || n < 0 {
			return errors.New("must be a number, 0 or more")
		}
		return nil
	}},
	{"volume-size", "Size of the volume of each pod with data", "", isQuantity},
	{"memory", "Memory of each pod (a FoundationDB process uses up to 8Gi by default)", "", isQuantity},
}

func isQuantity(answer string) error {
	if q, err := resource.ParseQuantity(answer); err != nil || q.Sign() <= 0 {
		return errors.New("must be a quantity above 0, such as 8Gi")
	}
	return nil
}

// prompts reports whether there are prompts for settings: a user is there to answer, and gave no version.
func (o createOptions) prompts(env *session.Env) bool {
	return o.version == "" && !o.Yes && env.IsTerminal(env.In) && env.IsTerminal(env.Out) && env.IsTerminal(env.ErrOut)
}

// ask sets the flags that were not given to the answers of the user.
func ask(ctx context.Context, env *session.Env, cmd *cobra.Command) error {
	for _, q := range questions {
		flag := cmd.Flags().Lookup(q.flag)
		if flag.Changed {
			continue
		}
		q.otherwise = cmp.Or(q.otherwise, flag.DefValue)
		answer, err := q.answer(ctx, env)
		if err != nil {
			return err
		}
		if err := cmd.Flags().Set(q.flag, answer); err != nil {
			return err
		}
	}
	return nil
}

// answer asks until the answer is valid.
func (q question) answer(ctx context.Context, env *session.Env) (string, error) {
	for {
		answer, err := env.Prompt().Ask(ctx, q.words, q.otherwise)
		if err != nil {
			return "", err
		}
		invalid := q.check(answer)
		if invalid == nil {
			return answer, nil
		}
		fmt.Fprintf(env.ErrOut, "invalid answer %q: %v\n", answer, invalid)
	}
}

// words returns the command with all settings that were given or answered.
func words(cmd *cobra.Command, name string) []string {
	all := []string{"create", name}
	for _, q := range questions {
		if flag := cmd.Flags().Lookup(q.flag); flag.Changed {
			all = append(all, "--"+q.flag, flag.Value.String())
		}
	}
	return all
}
