// For the search of MkDocs Material, before its own script.
{
  // "how do I check my kernel" is asked as "check kernel": "I" would stand for every word that begins with it.
  const unasked = new Set("a an and are can do does for how i in is it me my of on or the to what where which why with".split(" "));
  const asked = (message) => {
    if (message?.type !== 2 || typeof message.data !== "string") return message;
    const words = message.data.split(/\s+/).filter((word) => !unasked.has(word.toLowerCase().replace(/\W+$/, "")));
    return words.some(Boolean) ? {...message, data: words.join(" ")} : message;
  };
  // From a server, its worker and its index, which is larger than all the rest of a page, are loaded when somebody begins to search.
  const begun = new Promise((begin) => {
    if (location.protocol === "file:" || new URLSearchParams(location.search).has("q")) begin();
    document.addEventListener("focusin", (event) => event.target.matches("[data-md-component=search-query]") && begin());
  });
  const {open, send} = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, url, ...more) {
    this.isIndex = new URL(url, document.baseURI).pathname.endsWith("/search/search_index.json");
    return open.call(this, method, url, ...more);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    if (!this.isIndex) return send.apply(this, body);
    begun.then(() => send.apply(this, body));
  };
  const searching = (Worker) => class extends EventTarget {
    constructor(url) {
      super();
      this.worker = begun.then(() => new Worker(url));
      this.worker.then((worker) => { worker.onmessage = ({data}) => this.dispatchEvent(new MessageEvent("message", {data})); });
    }
    set onmessage(listener) { this.addEventListener("message", listener); }
    postMessage(message) { this.worker.then((worker) => worker.postMessage(asked(message))); }
    terminate() { this.worker.then((worker) => worker.terminate()); }
  };
  // Browsers start no web worker from file://: the worker's script runs in a hidden frame instead.
  const Framed = class extends EventTarget {
    constructor(url) {
      super();
      const base = new URL(url, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      const inside = frame.contentWindow;
      const load = (source) => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script");
        script.src = new URL(source, base).href;
        script.onload = loaded;
        script.onerror = failed;
        inside.document.head.append(script);
      });
      inside.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.ready = load(base);
    }
    set onmessage(listener) { this.addEventListener("message", listener); }
    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      });
    }
    terminate() { this.frame.remove(); }
  };
  window.Worker = window.IFrameWorker = searching(location.protocol === "file:" ? Framed : window.Worker);
}
