package assume

// Members are the members of what is assumed of one origin: the name, what it can be, and what it does.
func Members() [][3]string {
	return [][3]string{
		{"enforces", "true or false", "whether a repeated key makes no second effect; true unless said"},
		{"carrier.header", "a header's name", "where a key must travel for the origin to enforce it; anywhere unless said"},
		{"carrier.field", "a field's name", "the same, in the JSON body"},
		{"retention", "a duration, as 24h", "how long a key is remembered, from its first request; not known unless said"},
		{"conflict", "in-flight, exists", "what a 409 means: an earlier request is still at work, or the record exists; exists unless said"},
		{"keyTaken", "a list of statuses", "the statuses that mean that the key is known with another payload; 422 unless said"},
		{"idempotent", "a list of methods", "the methods that may be repeated without a key, as PUT"},
		{"lookup", "an address with {url}, {origin} or {key}, or none", "where an operation is looked up by its key; " + DefaultLookup + " unless said"},
		{"items", "a JSON pointer", "where the list of records is in a look-up's reply, as /data"},
		{"lookupKey", "value, as-sent", "whether a look-up leaves the quotes of a structured-field string out"},
		{"headers", "an object", `headers of a look-up; a value may be "{{secrets.NAME}}"`},
	}
}
