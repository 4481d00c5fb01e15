package woml

// The codes of all diagnostics, in the order of the checks. Those that the
// reference compiler has keep its name and meaning; "ours" marks the others.
const (
	// The text and its markup.
	codeDocumentTooLarge      = "WOML_DOCUMENT_TOO_LARGE" // ours
	codeEncodingInvalid       = "WOML_ENCODING_INVALID"   // ours
	codeUnclosedRawBody       = "WOML_UNCLOSED_RAW_BODY"
	codeDeclarationNotAllowed = "WOML_DECLARATION_NOT_ALLOWED"
	codeMalformedMarkup       = "WOML_MALFORMED_MARKUP"
	codeInvalidAttribute      = "WOML_INVALID_ATTRIBUTE"
	codeDuplicateAttribute    = "WOML_DUPLICATE_ATTRIBUTE"
	codeMultipleRoots         = "WOML_MULTIPLE_ROOTS"
	codeTextOutsideRoot       = "WOML_TEXT_OUTSIDE_ROOT"

	// Root, document, places of secrets, elements and attributes.
	codeExpectedDocumentRoot    = "WOML_EXPECTED_DOCUMENT_ROOT"
	codeDocumentStructure       = "WOML_DOCUMENT_STRUCTURE_INVALID"
	codeUnexpectedContent       = "WOML_UNEXPECTED_CONTENT"
	codeSecretSinkUnsupported   = "WOML_SECRET_SINK_UNSUPPORTED"
	codeSecretReferenceInvalid  = "WOML_SECRET_REFERENCE_INVALID"
	codeSecretLiteralForbidden  = "WOML_SECRET_LITERAL_FORBIDDEN"
	codeUnknownElement          = "WOML_UNKNOWN_ELEMENT"
	codeUnknownAttribute        = "WOML_UNKNOWN_ATTRIBUTE"
	codeConfigAttributeUnknown  = "WOML_CONFIG_ATTRIBUTE_UNKNOWN"
	codeRetryHandlerUnsupported = "WOML_RETRY_HANDLER_UNSUPPORTED"
	codeFeatureNotExecutable    = "WOML_FEATURE_NOT_EXECUTABLE"

	// The workflow and its containers.
	codeMissingAttribute      = "WOML_MISSING_ATTRIBUTE"
	codeInvalidID             = "WOML_INVALID_ID"
	codeEmptyMetadata         = "WOML_EMPTY_METADATA"
	codeConfigDuplicate       = "WOML_CONFIG_DUPLICATE"
	codeTriggerContainerCount = "WOML_TRIGGER_CONTAINER_COUNT"
	codeStepsContainerCount   = "WOML_STEPS_CONTAINER_COUNT"
	codeInvalidStructure      = "WOML_INVALID_STRUCTURE"

	// <config>.
	codeConfigChildNotAllowed    = "WOML_CONFIG_CHILD_NOT_ALLOWED"
	codeConfigEmpty              = "WOML_CONFIG_EMPTY"
	codeConfigConcurrencyInvalid = "WOML_CONFIG_CONCURRENCY_INVALID"
	codeConfigTimeoutInvalid     = "WOML_CONFIG_TIMEOUT_INVALID"
	codeConfigRateLimitInvalid   = "WOML_CONFIG_RATE_LIMIT_INVALID"
	codeConfigQueueInvalid       = "WOML_CONFIG_QUEUE_INVALID"

	// <triggers>.
	codeTriggerRequired          = "WOML_TRIGGER_REQUIRED"
	codeTriggerLimitExceeded     = "WOML_TRIGGER_LIMIT_EXCEEDED" // ours; the reference has the limit under another name
	codeTriggerUnsupported       = "WOML_TRIGGER_UNSUPPORTED"
	codeTriggerIDDuplicate       = "WOML_TRIGGER_ID_DUPLICATE"
	codeWebhookPathInvalid       = "WOML_WEBHOOK_PATH_INVALID"
	codeWebhookMethodUnsupported = "WOML_WEBHOOK_METHOD_UNSUPPORTED"
	codeWebhookAuthInvalid       = "WOML_WEBHOOK_AUTH_INVALID"
	codeWebhookStructureInvalid  = "WOML_WEBHOOK_STRUCTURE_INVALID"
	codeSchemaStructureInvalid   = "WOML_WEBHOOK_SCHEMA_STRUCTURE_INVALID"
	codeSchemaJSONInvalid        = "WOML_WEBHOOK_SCHEMA_JSON_INVALID"
	codeSchemaInvalid            = "WOML_WEBHOOK_SCHEMA_INVALID"

	// <steps>.
	codeEmptySteps              = "WOML_EMPTY_STEPS"
	codeDuplicateID             = "WOML_DUPLICATE_ID"
	codeStepOperationCount      = "WOML_STEP_OPERATION_COUNT"
	codeCompensateInvalid       = "WOML_COMPENSATE_INVALID" // ours
	codeRetryInvalid            = "WOML_RETRY_INVALID"
	codeRetryBackoffRequires    = "WOML_RETRY_BACKOFF_REQUIRES_RETRY"
	codeRetryBackoffInvalid     = "WOML_RETRY_BACKOFF_INVALID"
	codeRetryDelayInvalid       = "WOML_RETRY_DELAY_INVALID"
	codeRetryMaxDelayInvalid    = "WOML_RETRY_MAX_DELAY_INVALID"
	codeRetryMaxDelayNotAllowed = "WOML_RETRY_MAX_DELAY_NOT_ALLOWED"

	// <script>.
	codeScriptTooLarge           = "WOML_SCRIPT_TOO_LARGE" // ours
	codeScriptSyntaxInvalid      = "WOML_SCRIPT_SYNTAX_INVALID"
	codeScriptUnsupported        = "WOML_SCRIPT_FEATURE_UNSUPPORTED" // ours: valid JavaScript that the runtime does not have, or would get wrong
	codeScriptBindingShadowed    = "WOML_SCRIPT_BINDING_SHADOWED"
	codeScriptDynamicImport      = "WOML_SCRIPT_DYNAMIC_IMPORT_UNSUPPORTED"
	codeScriptModuleRequire      = "WOML_SCRIPT_MODULE_REQUIRE_UNSUPPORTED"
	codeScriptRawNetwork         = "WOML_SCRIPT_RAW_NETWORK_UNSUPPORTED"
	codeScriptFetchWrite         = "WOML_SCRIPT_FETCH_WRITE_UNSUPPORTED"
	codeScriptSecretDynamic      = "WOML_SCRIPT_SECRET_ACCESS_DYNAMIC"
	codeScriptSecretUnsupported  = "WOML_SCRIPT_SECRET_ACCESS_UNSUPPORTED"
	codeScriptSecretName         = "WOML_SCRIPT_SECRET_NAME_INVALID"
	codeScriptSecretWrite        = "WOML_SCRIPT_SECRET_WRITE_UNSUPPORTED"
	codeScriptSecretLimit        = "WOML_SCRIPT_SECRET_LIMIT_EXCEEDED"
	codeScriptServiceDynamic     = "WOML_SCRIPT_SERVICE_ACCESS_DYNAMIC"
	codeScriptServiceUnsupported = "WOML_SCRIPT_SERVICE_ACCESS_UNSUPPORTED"
	codeScriptServiceWrite       = "WOML_SCRIPT_SERVICE_WRITE_UNSUPPORTED"
	codeLifecycleUnavailable     = "WOML_LIFECYCLE_BINDING_UNAVAILABLE"
	codeCallOperation            = "WOML_WORKFLOW_OPERATION_UNSUPPORTED"
	codeCallArguments            = "WOML_WORKFLOW_CALL_ARGUMENTS_INVALID"
	codeCallTarget               = "WOML_WORKFLOW_TARGET_INVALID"
	codeCallPayload              = "WOML_WORKFLOW_PAYLOAD_INVALID"
	codeCallOptions              = "WOML_WORKFLOW_CALL_OPTIONS_INVALID"
	codeCallOptionUnknown        = "WOML_WORKFLOW_CALL_OPTION_UNKNOWN"
	codeCallName                 = "WOML_WORKFLOW_CALL_NAME_INVALID"
	codeServiceUnknown           = "WOML_MODULE_SERVICE_UNKNOWN"

	// Warnings, all ours: the document runs, and this will bite.
	codeWebhookPathShared        = "WOML_WEBHOOK_PATH_SHARED"
	codeWriteWithoutIdempotency  = "WOML_WRITE_WITHOUT_IDEMPOTENCY"
	codeIdempotencyValueUnstable = "WOML_IDEMPOTENCY_VALUE_UNSTABLE"
	codeScriptStrictMode         = "WOML_SCRIPT_STRICT_MODE"
	codeScriptOutsideStep        = "WOML_SCRIPT_OUTSIDE_STEP"
	codeDatabaseDriverNotRun     = "WOML_DATABASE_DRIVER_NOT_RUN"
)
