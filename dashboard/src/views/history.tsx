import { type Bar, Bars } from "../parts";

export interface Bucket extends Bar {
  latencyMs: number | null;
  slowestMs: number | null;
}

export interface ServiceHistory {
  name: string;
  hours: Bucket[];
  days: Bucket[];
  checks: { at: string; state: string; latencyMs: number | null }[];
}

export interface History {
  services: ServiceHistory[];
}

export const historyOf = (all: History | null, name: string): ServiceHistory | null => all?.services.find((one) => one.name === name) ?? null;

export const ServiceBars = ({ history }: { history: ServiceHistory | null }) => (
  <Bars bars={history?.hours ?? null} span={3600} count={24} label="The last 24 hours" />
);
