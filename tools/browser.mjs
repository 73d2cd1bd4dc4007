// A headless Chromium, spoken to through a pipe (Chrome DevTools Protocol): no package needed.
//
// Used by tools/pictures.mjs and tests/browser. CHROMIUM names the program if it is not in the path under a usual name.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function findChromium() {
  const names = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome', 'chrome'].filter(Boolean);
  return names.find(name => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);
}

let kept = null;

// Calls `use(page)` with the one page that all its callers open, one after another: a third of the time that a new one takes.
export async function withKeptPage(use) {
  started ??= new Browser();
  started.hold(+1);
  try {
    kept ??= await newPage('about:blank');
    await kept.open('about:blank');  // or a link into the page that is open would not load it again
    kept.errors.length = 0;
    return await use(kept);
  } finally {
    started.hold(-1);
  }
}

async function newPage(url, browserContextId = undefined) {
  const { targetId } = await started.connection.send('Target.createTarget', { url, browserContextId });
  const { sessionId } = await started.connection.send('Target.attachToTarget', { targetId, flatten: true });
  return new Page(started.connection, sessionId);
}

// Calls `use(page)` with a page that shares nothing with the others of this process but the browser, which ends with the process.
export async function withPage(use) {
  started ??= new Browser();
  started.hold(+1);
  const { browserContextId } = await started.connection.send('Target.createBrowserContext');
  try {
    return await use(await newPage('about:blank', browserContextId));
  } finally {
    await started.connection.send('Target.disposeBrowserContext', { browserContextId });
    started.hold(-1);
  }
}

let started = null;

class Browser {
  constructor() {
    const program = findChromium();
    if (!program) throw new Error('no Chromium found; install chromium, or name it in CHROMIUM');
    const profile = mkdtempSync(join(tmpdir(), 'farandole-browser-'));
    // A container's root may start no sandbox, and what is opened here is our own.
    const child = spawn(program, ['--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu',
      '--disable-dev-shm-usage', '--hide-scrollbars', `--user-data-dir=${profile}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
    this.connection = new Connection(child);
    this.handles = [child, child.stdio[3], child.stdio[4]];
    this.pages = 0;
    process.once('exit', () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');  // its helpers too, which would go on writing
      rmSync(profile, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
    });
  }

  // Node.js waits for an answer while there are pages, and ends where there are none.
  hold(change) {
    this.pages += change;
    this.handles.forEach(handle => this.pages > 0 ? handle.ref() : handle.unref());
  }
}

// Messages are JSON, each ended by a NUL.
class Connection {
  constructor(child) {
    this.out = child.stdio[3];
    this.waiting = new Map();
    this.listeners = [];
    this.last = 0;
    let rest = '';
    child.stdio[4].setEncoding('utf8').on('data', text => {
      const parts = (rest + text).split('\0');
      rest = parts.pop();
      parts.forEach(part => this.receive(JSON.parse(part)));
    });
    child.once('exit', () => this.waiting.forEach(({ reject }) => reject(new Error('the browser has gone'))));
  }

  receive(message) {
    if (!message.id) return this.listeners.forEach(listener => listener(message));
    const { resolve, reject } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    return message.error ? reject(new Error(message.error.message)) : resolve(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.out.write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }
}

class Page {
  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
    this.errors = [];
    this.loaded = new Set();  // of navigations: the page that a browser starts with loads too
    browser.listeners.push(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === 'Page.lifecycleEvent' && params.name === 'load') this.loaded.add(params.loaderId);
      if (method === 'Runtime.exceptionThrown') this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === 'Runtime.consoleAPICalled' && params.type === 'error') this.errors.push(params.args.map(arg => arg.value).join(' '));
      if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(params.entry.text);
    });
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  // `look`: { width, height, scheme: 'light' or 'dark', media: 'screen' or 'print', scale }; what is open is shown so too.
  async show(look) {
    await this.send('Emulation.setDeviceMetricsOverride',
      { width: look.width ?? 1100, height: look.height ?? 900, deviceScaleFactor: look.scale ?? 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia',
      { media: look.media ?? 'screen', features: [{ name: 'prefers-color-scheme', value: look.scheme ?? 'light' }] });
  }

  async open(url, look = {}) {
    for (const domain of ['Page', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
    await this.send('Page.setLifecycleEventsEnabled', { enabled: true });
    await this.show(look);
    const { errorText, loaderId } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url.slice(0, 200)}: ${errorText}`);
    while (!this.loaded.has(loaderId)) await new Promise(resolve => setTimeout(resolve, 10));
  }

  // The value of an expression, which may be a promise.
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // The value of an expression once it is neither false nor null; null after half a minute.
  async until(expression) {
    for (let attempt = 0; attempt < 600; ++attempt) {
      const value = await this.evaluate(expression);
      if (value) return value;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    return null;
  }

  async screenshot() {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    const clip = { x: 0, y: 0, width: cssContentSize.width, height: cssContentSize.height, scale: 1 };
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
    return Buffer.from(data, 'base64');
  }

  async pdf() {
    const { data } = await this.send('Page.printToPDF', { printBackground: true, preferCSSPageSize: true });
    return Buffer.from(data, 'base64');
  }

  async key(key) {
    for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', { type, key, code: key });
  }

  async moveTo(x, y) {
    await this.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
  }
}
