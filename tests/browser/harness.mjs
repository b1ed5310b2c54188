// SPDX-License-Identifier: Apache-2.0
// harness.mjs: the daemon that POSENCD names, a browser, and pages that keep a record of what they
// asked for and what went wrong. Every program of this folder starts a daemon and a browser of its
// own, so that programs can run side by side.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before } from "node:test";

/** The packages of package.json, where `make browser` has put them. */
const packages = createRequire(`${process.env.BROWSER_PACKAGES}/package.json`);
const { chromium } = packages("playwright-core");
const AXE = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");

/** The views of the page. */
export const VIEWS = ["lesson", "explore", "check", "precision"];

const TIMEOUT_MS = 120_000; // for what takes two seconds on an idle machine
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A daemon, on a free port if no other is told. @returns {Promise<{url: string, stop: () => Promise<number>}>} */
export async function startDaemon(port = 0) {
  const options = ["--listen", `127.0.0.1:${port}`, "--log-format", "off", "--ready-fd", "3"];
  const daemon = spawn(process.env.POSENCD, options, {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const [line] = await once(daemon.stdio[3], "data");
  const { url } = JSON.parse(line);
  const stop = async () => {
    daemon.kill("SIGTERM");
    const [status] = await once(daemon, "exit");
    return status;
  };
  return { url, stop };
}

export function startBrowser() {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find(existsSync);
  return chromium.launch({ executablePath, args: ["--disable-gpu", "--disable-dev-shm-usage"] });
}

/** What serve() has started. */
export let daemon;
export let browser;

/** A daemon and a browser for all tests of a program; in the end the daemon has to leave in peace. */
export function serve() {
  before(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), startBrowser()]);
  });
  after(async () => {
    await browser.close();
    assert.equal(await daemon.stop(), 0);
  });
}

/**
 * A page in a context of its own.
 * @param {import("playwright-core").Browser} browser
 * @param {{width?: number, height?: number, lang?: string, theme?: "light" | "dark",
 *          motion?: "reduce" | "no-preference"}} [settings]
 * @returns a Playwright page with two more members: `requests`, every URL asked for, and `faults`,
 *     what the console, scripts and failed requests complained about
 */
export async function newPage(browser, settings = {}) {
  const { width = 1280, height = 900, lang = "en", theme = "light" } = settings;
  const context = await browser.newContext({
    viewport: { width, height },
    locale: { en: "en-GB", ru: "ru-RU", ja: "ja-JP" }[lang],
    colorScheme: theme,
    reducedMotion: settings.motion ?? "no-preference",
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  page.requests = [];
  page.faults = [];
  page.on("request", (request) => page.requests.push(request.url()));
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (said) => {
    if (["error", "warning"].includes(said.type())) page.faults.push(said.text());
  });
  return page;
}

/** The page at an address, with all of its plots drawn: those far below wait to be seen. */
export async function open(page, url) {
  await page.goto(url);
  await settle(page);
}

/** Waits until every plot of the page has its answer, and is drawn. */
export async function settle(page) {
  await page.waitForSelector("body[data-ready]");
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const said = (figure) => figure.plot.answer || figure.querySelector(".tools[hidden], .problem:not([hidden])");
    for (const figure of document.querySelectorAll(".plot")) {
      if (!figure.checkVisibility()) continue;
      figure.scrollIntoView({ block: "center", behavior: "instant" });
      await frame();
      await frame(); // in which it may find out that it asks for something new
      for (let frames = 0; frames < 1000 && !said(figure); frames++) await frame();
    }
    scrollTo({ top: 0, behavior: "instant" });
    await frame();
    await Promise.all([...document.querySelectorAll(".plot")].map(({ plot }) => plot.idle));
    await frame();
  });
  await page.waitForFunction(() => !document.querySelector("[aria-busy]"));
}

/** Fails with a list of faults, unless it is empty. */
export function none(faults) {
  assert.equal(faults.join("\n"), "");
}

/** What axe-core finds, a line for each element. */
export async function accessibilityFaults(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}

/** URLs among those asked for that are not of this origin. */
export const foreign = (requests, origin) =>
  requests.filter((url) => !/^(data|blob):/.test(url) && new URL(url).origin !== origin);
