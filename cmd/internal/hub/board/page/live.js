// Keeps the page up to date. Without it, the page reloads itself.
(() => {
  const at = document.body.dataset.events, link = document.getElementById('link'), keep = 200;
  const go = document.querySelector('[data-go]');
  if (go) setTimeout(() => location.replace(go.dataset.go), 1500);
  const log = document.getElementById('log');
  if (log) log.scrollTop = log.scrollHeight;
  if (!at) return;
  let source = null, heard = 0;
  const typing = el => el.contains(document.activeElement) && /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName) ||
    [...el.querySelectorAll('input:not([type=hidden]),textarea')].some(i => i.value);
  const on = {
    part(p) {
      const el = document.getElementById(p.id);
      if (!el || typing(el)) return;
      const open = el.querySelector('details')?.open;
      el.innerHTML = p.html;
      if (open) el.querySelector('details')?.setAttribute('open', '');
    },
    clear() { log?.replaceChildren(); },
    line(l) {
      if (!log) return;
      const follow = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      const row = document.createElement('div'), time = document.createElement('span');
      row.className = l.role; time.className = 'at'; time.textContent = l.at || '';
      row.append(time, ' ' + l.text);
      log.append(row);
      while (log.childElementCount > keep) log.firstElementChild.remove();
      if (follow) log.scrollTop = log.scrollHeight;
    },
    beat() {},
  };
  const close = () => { source?.close(); source = null; };
  const open = () => {
    close();
    heard = Date.now();
    source = new EventSource(at);
    for (const name of Object.keys(on)) source.addEventListener(name, e => {
      heard = Date.now();
      link.textContent = '';
      on[name](JSON.parse(e.data));
    });
    source.onerror = () => { link.textContent = 'no connection; trying again'; };
  };
  // A hidden page holds no connection; one that slept, or whose connection is dead, opens another.
  document.addEventListener('visibilitychange', () => document.hidden ? close() : open());
  document.addEventListener('freeze', close);
  document.addEventListener('resume', open);
  addEventListener('pageshow', e => { if (e.persisted) open(); });
  setInterval(() => {
    if (!document.hidden && (!source || source.readyState === EventSource.CLOSED || Date.now() - heard > 40000)) open();
  }, 3000);
  if (!document.hidden) open();
})();
