package tools

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// configure creates the database or changes its configuration.
func (c *cli) configure(args []string) error {
	if len(args) > 0 && args[0] == "auto" {
		return c.configureAuto()
	}
	r, err := client.ParseConfigure(args)
	c.print(r.Notes)
	if errors.Is(err, client.ErrUsage) {
		return c.usageOf("configure")
	}
	if err != nil {
		return err
	}
	return c.applyConfigure(r)
}

// configureAuto reads the status document and finds no advice in it, as in every run on 7.3.79.
func (c *cli) configureAuto() error {
	if err := c.Pause(c.statusDelay()); err != nil {
		return err
	}
	c.print("Unable to provide advice for the current configuration.\n")
	return errFailed
}

func (c *cli) applyConfigure(r client.ConfigureRequest) error {
	next, err := c.Configure(r)
	if err != nil {
		return err
	}
	if r.New {
		c.print("Database created\n")
		return nil
	}
	return c.configured(next)
}

// configured prints that a change is in force.
func (c *cli) configured(next model.Configuration) error {
	gradual := next.Values["storage_migration_type"] == model.Choices["storage_migration_type"].Stored["gradual"]
	if gradual && next.Values["perpetual_storage_wiggle"] != "1" {
		c.print("Configuration changed, with warnings\n")
		c.errorf("WARN: To make progress toward the desired storage type with storage_migration_type=gradual, the Perpetual Wiggle must be enabled.\n" +
			"Type `configure perpetual_storage_wiggle=1' to enable the perpetual wiggle, or `configure storage_migration_type=gradual' " +
			"to set the gradual migration type.")
		return nil
	}
	c.print("Configuration changed\n")
	return nil
}

// fileConfigure configures from a JSON file.
func (c *cli) fileConfigure(args []string) error {
	create, force := false, false
	if len(args) == 2 {
		create, force = args[0] == "new", args[0] == "FORCE"
		args = args[1:]
	}
	if len(args) != 1 {
		return c.usageOf("fileconfigure")
	}
	content, err := c.Files.ReadFile(args[0])
	if err != nil {
		return model.ClientError{Text: "File not found", Code: 1511}
	}
	words, ok := fileWords(content)
	if !ok {
		return c.refuse("invalid JSON")
	}
	r, err := client.ParseConfigure(words)
	if err != nil {
		return c.refuse("Could not translate the configuration file")
	}
	r.New, r.Force = create, force
	return c.applyConfigure(r)
}

// fileWords turns a configuration document into the words of configure.
func fileWords(content []byte) ([]string, bool) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, false
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(document)) {
		value := string(document[name])
		if text, err := strconv.Unquote(value); err == nil {
			value = text
		}
		switch name {
		case "redundancy_mode":
			words = append(words, value)
		case "storage_engine":
			words = append(words, value)
		case "log_engine", "excluded_servers", "coordinators_count", "proxies":
		default:
			words = append(words, name+"="+value)
		}
	}
	return words, true
}
