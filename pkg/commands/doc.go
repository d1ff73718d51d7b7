// Package commands wires the pieces together, one file per subcommand. Nothing
// else in the program reads flags, files, streams or the environment, and nothing
// imports it but main.
package commands
