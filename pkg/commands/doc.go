// Package commands wires the pieces together, one file per subcommand. No other package reads
// flags, files, streams or the environment, and only main imports it.
package commands
