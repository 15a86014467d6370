// The API's description, drawn from its OpenAPI document.

import { h } from "./dom.js";

const name = schema => schema?.$ref?.split("/").pop() ?? (schema?.items ? `list of ${name(schema.items)}` : schema?.type ?? "");

function fields(schema) {
  return h("dl", {}, Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
    [h("dt", {}, h("code", {}, key), " ", h("small", {}, name(value))), h("dd", {}, value.description ?? "")]));
}

function route(path, method, described) {
  const query = (described.parameters ?? []).map(each => `${each.name}${each.required ? "" : "?"}`).join(", ");
  const [kind, body] = Object.entries(described.requestBody?.content ?? {})[0] ?? [];
  const answer = described.responses?.["200"]?.content?.["application/json"]?.schema;
  return h("section", { className: "route" },
    h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)),
    h("p", {}, described.description ?? ""),
    query ? h("p", { className: "hint" }, "Query: ", h("code", {}, query)) : "",
    body ? h("p", { className: "hint" }, `Body, ${kind}: `, body.schema.$ref ? name(body.schema) : fields(body.schema)) : "",
    answer ? h("p", { className: "hint" }, `Answer: ${name(answer)}`) : "");
}

const response = await fetch("/v1/openapi.json");
const { paths, components } = await response.json();
document.getElementById("routes").replaceChildren(
  ...Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => route(path, method, described))),
  h("h2", {}, "What the answers hold"),
  ...Object.entries(components.schemas).filter(([, schema]) => schema.properties).map(([key, schema]) =>
    h("section", { className: "route" }, h("h3", {}, key), h("p", {}, schema.description ?? ""), fields(schema))));
