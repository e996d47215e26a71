package httpapi_test

const childVariable = "GEORAG_HTTPAPI_CHILD"

func serveAsChild() int { return 0 }
