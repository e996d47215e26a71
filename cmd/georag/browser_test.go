package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/georag/georag/adapters/httpapi"
	"github.com/georag/georag/internal/secret"
)

// browserPatience bounds one test in the browser; a slow machine needs most of it.
const browserPatience = 3 * time.Minute

// browser returns a page of headless Chromium, and what went wrong in it: messages on its console, exceptions, and
// requests to anywhere but the service.
func browser(t *testing.T, service string) (context.Context, func() []string) {
	t.Helper()
	program := os.Getenv("GEORAG_TEST_BROWSER")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if program == "" {
			program, _ = exec.LookPath(name)
		}
	}
	if program == "" {
		t.Skip("SKIPPED: no Chromium here to look at the page with; install one or name it in GEORAG_TEST_BROWSER")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, chromedp.Headless, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.DisableGPU, chromedp.NoSandbox, chromedp.ExecPath(program), chromedp.WSURLReadTimeout(time.Minute))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	var mu sync.Mutex
	var wrong []string
	note := func(format string, values ...any) {
		mu.Lock()
		defer mu.Unlock()
		wrong = append(wrong, fmt.Sprintf(format, values...))
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			note("console: %v", e.Args)
		case *runtime.EventExceptionThrown:
			note("exception: %v", e.ExceptionDetails)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, service) {
				note("request to %s", e.Request.URL)
			}
		case *network.EventLoadingFailed:
			note("failed: %s %s", e.ErrorText, e.BlockedReason)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), wrong...)
	}
}

// serveProcess runs `georag serve` as a process of its own until the test ends, and returns its address.
func serveProcess(t *testing.T, arguments ...string) string {
	t.Helper()
	service, _ := startProcess(t, arguments...)
	return service
}

// startProcess is serveProcess with a way to end it before the test does.
func startProcess(t *testing.T, arguments ...string) (service string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	var complaints bytes.Buffer
	command := exec.Command("georag", append([]string{"serve", "--listen", address, "--set", "server.timeouts.request=10s", "--set", "server.timeouts.drain=1ms"}, arguments...)...)
	command.Stderr = &complaints
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil || t.Failed() {
			t.Logf("georag serve: %v\n%s", err, &complaints)
		}
	})
	t.Cleanup(stop)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			_ = response.Body.Close()
			return "http://" + address, stop
		}
		if time.Now().After(deadline) {
			t.Fatalf("the service does not answer: %v", err)
		}
	}
}

// tab is a page being looked at.
type tab struct {
	*testing.T
	ctx   context.Context
	wrong func() []string
}

func openTab(t *testing.T, url string) tab {
	t.Helper()
	ctx, wrong := browser(t, url)
	p := tab{t, ctx, wrong}
	p.do(chromedp.Navigate(url + "/ui"))
	return p
}

func (p tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// value is what a JavaScript expression gives.
func value[T any](p tab, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true.
func (p tab) until(expression string) {
	p.Helper()
	for !value[bool](p, expression) {
		select {
		case <-p.ctx.Done():
			p.Fatalf("never true: %s", expression)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p tab) count(selector string, least, most int) {
	p.Helper()
	if n := value[int](p, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); n < least || n > most {
		p.Errorf("%d elements are %q, want %d to %d", n, selector, least, most)
	}
}

func (p tab) text(selector string) string {
	p.Helper()
	return value[string](p, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// choose picks a question of the demonstration.
func (p tab) choose(id string) {
	p.Helper()
	value[bool](p, fmt.Sprintf(`$("sample").value = %q, $("sample").dispatchEvent(new Event("change"))`, id))
}

// clean reports what went wrong in the browser.
func (p tab) clean() {
	p.Helper()
	if w := p.wrong(); len(w) > 0 {
		p.Errorf("in the browser: %q", w)
	}
}

const (
	ready    = `about !== null`
	answered = `!$("result").hidden && waiting === null`
)

// TestPageByKeyboard asks a typed question with the keyboard alone and sees both lists, the sub-queries, the picture,
// the demand and the steps; then a question of the demonstration.
func TestPageByKeyboard(t *testing.T) {
	p := openTab(t, serveProcess(t, "--demo"))
	p.until(ready)
	p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t")) // the samples, the question
	if focus := value[string](p, "document.activeElement.id"); focus != "question" {
		t.Errorf("two tabs lead to %q", focus)
	}
	p.do(chromedp.KeyEvent("Who discovered penicillin and who made it a medicine?\r"))
	p.until(answered)
	p.count("#nearest > li", 5, 5)
	p.count("#selected > li", 5, 5)
	p.count("#parts tbody tr", 2, 20)
	p.count("#steps tbody tr", 5, 5)
	p.count("#plane svg .picked", 6, 6) // five, and one in the legend
	p.count("#demand .bar.picked", 5, 5)
	if status := p.text("#status"); !strings.Contains(status, "5 passages selected by georag") {
		t.Errorf("announced: %q", status)
	}
	if focus := value[string](p, "document.activeElement.id"); focus != "question" {
		t.Errorf("the answer moved the focus to %q", focus)
	}
	p.choose("q-voting-rights")
	p.do(chromedp.Focus(chromedp.CSS("#question")), chromedp.KeyEvent("\r"))
	p.until(`$("asked").textContent.startsWith("who was vice president") && ` + answered)
	if list := p.text("#selected"); !strings.Contains(list, "Hubert Humphrey") {
		t.Errorf("selected: %s", list)
	}
	p.clean()
}

// TestPageShowsMarkupAsText serves passages whose fields are markup.
func TestPageShowsMarkupAsText(t *testing.T) {
	dir := t.TempDir()
	const attack = `<script>window.broken=1</script><img src=x onerror=window.broken=2>`
	var lines strings.Builder
	for i, subject := range []string{"rivers", "mountains", "deserts", "islands", "forests", "lakes"} {
		fmt.Fprintf(&lines, "{\"id\": \"%d%s\", \"title\": %q, \"text\": %q}\n", i, "<b>", attack+subject, attack+" All about "+subject+" and the water in them.")
	}
	input := filepath.Join(dir, "passages.jsonl")
	if err := os.WriteFile(input, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "index")
	if output, err := exec.Command("georag", "index", "build", "--store", "flat:"+index, "--input", input).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	p := openTab(t, serveProcess(t, "--passages", index))
	p.until(ready)
	p.do(chromedp.SendKeys(chromedp.CSS("#question"), "<script>window.broken=3</script> water in deserts and lakes\r"))
	p.until(answered)
	if value[bool](p, "window.broken !== undefined") {
		t.Error("a passage's markup ran")
	}
	p.count("main script, main img, main li b", 0, 0)
	if list := p.text("#selected"); !strings.Contains(list, "<script>") {
		t.Errorf("the markup is not shown as text: %s", list)
	}
	p.clean()
}

// TestPageSaysWhatIsMissing: an index without an embedder still shows the demonstration's questions, and says why it
// shows nothing else; asking for more passages than there are is degraded, and says so.
func TestPageSaysWhatIsMissing(t *testing.T) {
	p := openTab(t, serveProcess(t, "--passages", filepath.Join("..", "..", "demo", "data"), "--set", "subqueries.write=0"))
	p.until(ready)
	if missing := p.text("#missing"); !value[bool](p, `$("question").readOnly`) || !strings.Contains(missing, "no embedder") || !strings.Contains(missing, "choose one") {
		t.Errorf("said %q", missing)
	}
	p.do(chromedp.Focus(chromedp.CSS("#question")), chromedp.KeyEvent("\r"))
	p.until(`!$("error").hidden`)
	if problem := p.text("#error"); !strings.Contains(problem, "Choose a question first") {
		t.Errorf("said %q", problem)
	}
	p.choose("q-dams")
	p.do(chromedp.KeyEvent("\r"))
	p.until(answered)
	p.count("#selected > li", 5, 5)
	if !value[bool](p, `$("degraded").hidden && $("error").hidden`) {
		t.Error("a good answer looks like a bad one")
	}
	p.clean()
}

// TestPageShowsWhatIsDegraded, and then that the service has gone.
func TestPageShowsWhatIsDegraded(t *testing.T) {
	service, stop := startProcess(t, "--demo", "--set", "subqueries.write=0")
	p := openTab(t, service)
	p.until(ready)
	p.do(chromedp.SendKeys(chromedp.CSS("#question"), "Why do dams silt up?\r"))
	p.until(answered)
	if problem := p.text("#degraded"); !strings.Contains(problem, "no_subqueries") || value[bool](p, `$("degraded").hidden`) {
		t.Errorf("said %q", problem)
	}
	p.clean()
	stop()
	p.do(chromedp.Focus(chromedp.CSS("#question")), chromedp.KeyEvent("\r"))
	p.until(`!$("error").hidden`)
	if problem := p.text("#error"); !strings.Contains(problem, "cannot be reached") || !value[bool](p, `$("result").hidden`) {
		t.Errorf("said %q", problem)
	}
}

// TestPageAsksForAKey: the page itself is open, what it shows needs the key, which stays in the tab.
func TestPageAsksForAKey(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	line := "page " + httpapi.HashKey(secret.New("key")) + "\n"
	if err := os.WriteFile(keys, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openTab(t, serveProcess(t, "--demo", "--set", "server.auth.keys_file="+keys))
	p.until(`!$("access").hidden`)
	if !value[bool](p, `$("ask").hidden`) {
		t.Error("a question can be typed that cannot be asked")
	}
	p.do(chromedp.SendKeys(chromedp.CSS("#key"), "wrong\r"))
	p.until(`!$("error").hidden`)
	p.do(chromedp.SendKeys(chromedp.CSS("#key"), "key\r"))
	p.until(ready)
	if stored := value[string](p, `sessionStorage.getItem(storedKey)`); stored != "key" {
		t.Errorf("the session keeps %q", stored)
	}
	if lasting := value[string](p, `localStorage.length + document.cookie`); lasting != "0" {
		t.Errorf("the browser keeps %q", lasting)
	}
	p.do(chromedp.SendKeys(chromedp.CSS("#question"), "Why do dams silt up?\r"))
	p.until(answered)
	p.count("#selected > li", 5, 5)
}
