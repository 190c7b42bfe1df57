// What tests use of a package without types.

declare module 'parse-prometheus-text-format' {
  type Metric = {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly {
      readonly value?: string;
      readonly labels?: Readonly<Record<string, string>>;
    }[];
  };

  function parsePrometheusText(text: string): readonly Metric[];
  export = parsePrometheusText;
}
