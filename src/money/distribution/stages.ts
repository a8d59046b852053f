import { declareStage } from './declare.ts'
import { payStage } from './pay.ts'
import { reinvestStage } from './reinvest.ts'
import { reverseDeclare, reverseDrpAllotment, reversePayment } from './take-back.ts'

/** All stages by name, so that a job can find its stage. */
export const stages = {
  Declare: declareStage,
  Payment: payStage,
  DrpAllotment: reinvestStage,
  ReverseDeclare: reverseDeclare,
  ReversePayment: reversePayment,
  ReverseDrpAllotment: reverseDrpAllotment,
}
