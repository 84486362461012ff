import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { GatewayError } from './gateway-error.js';
import { isProblemCode, PROBLEM_CODES, PROBLEMS } from './problem-table.js';

/** What each error means, who must act and what to do: the pages that `type` in a problem document leads to. */
@ApiExcludeController()
@Controller('problems')
export class ProblemsController {
  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'public, max-age=3600')
  all(): string {
    const rows = PROBLEM_CODES.map((code) => {
      const { status, owner, title } = PROBLEMS[code];
      return `<tr><td><a href="/problems/${code}">${code}</a></td><td>${status}</td><td>${owner}</td><td>${escape(title)}</td></tr>`;
    });
    return page('Problems', `<table><tr><th>code<th>status<th>who must act<th></tr>${rows.join('')}</table>`);
  }

  @Get(':code')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'public, max-age=3600')
  one(@Param('code') code: string): string {
    if (!isProblemCode(code))
      throw new GatewayError('not-found', 'There is no problem with this code; /problems lists all.');
    const { status, owner, title, meaning, remedy } = PROBLEMS[code];
    return page(
      title,
      `<p><code>${code}</code> · status ${status} · who must act: <b>${owner}</b></p><h2>When</h2><p>${escape(meaning)}</p><h2>What to do</h2><p>${escape(remedy)}</p><p><a href="/problems">all problems</a></p>`,
    );
  }
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)} – accounts-gateway</title><h1>${escape(title)}</h1>${body}</html>\n`;
}
