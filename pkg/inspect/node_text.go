package inspect

// Never is the word for a timer that does not end.
const Never = "never"
